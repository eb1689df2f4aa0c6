namespace Rookery.Cluster.Commit;

/// <summary>
/// The two threads of the commit path. The thread "journal" writes and syncs proposals; the thread "apply" applies
/// committed entries. When no other write waits, the journal thread applies its own write. A caller that finds the
/// journal thread asleep writes and applies on its own thread, because two thread switches cost more than the rest of
/// the commit. Measured with one connection and two cores: 3,400 writes/s and 190 µs of CPU per write with the thread
/// switches, 4,570 writes/s and 140 µs without.
/// </summary>
internal sealed class CommitThreads
{
    private const int MillisecondsPerSecond = 1000;

    // The number of syncs that the average covers. The last sync alone predicts little: an SD card completes some syncs
    // at once and then none for a tenth of a second.
    private const int AveragedSyncs = 8;

    private readonly RaftHost _host;
    private readonly ProposalQueue _queue;
    private readonly WritePipeline _writes;
    private readonly ApplyPipeline _applies;
    private readonly TimeProvider _time;
    private readonly Thread _writer;
    private readonly Thread _applier;
    private readonly object _gate = new();
    private bool _isStopping;
    private bool _writerEnded;
    private bool _isApplyTurnTaken;
    private bool _isPauseRequested;

    // Used only by the holder of the write turn.
    private long _averageSyncTicks;

    public CommitThreads(
        RaftHost host,
        ProposalQueue queue,
        WritePipeline writes,
        ApplyPipeline applies,
        TimeProvider time
    )
    {
        _host = host;
        _queue = queue;
        _writes = writes;
        _applies = applies;
        _time = time;
        Action commit = WriteOnceAndReleaseTurn;
        CommitOnCallingThread = () => RunOrEndProcess(commit);
        _writer = new Thread(() => RunOrEndProcess(RunWriter))
        {
            Name = "journal",
            IsBackground = true,
            Priority = ThreadPriority.AboveNormal,
        };
        _applier = new Thread(() => RunOrEndProcess(RunApplier))
        {
            Name = "apply",
            IsBackground = true,
            Priority = ThreadPriority.AboveNormal,
        };
    }

    /// <summary>
    /// Commits the queued proposals on the thread of a caller that holds the write turn, then releases the turn.
    /// </summary>
    public Action CommitOnCallingThread { get; }

    public void Start()
    {
        _applier.Start();
        _writer.Start();
    }

    /// <summary>
    /// Wakes the journal thread for work that is not in the queue: a due journal write, or callers to refuse.
    /// </summary>
    public void WakeToWrite() => _queue.Wake();

    /// <summary>Wakes the apply thread if an entry can be applied.</summary>
    public void WakeToApplyIfDue()
    {
        if (_applies.HasToApply)
        {
            WakeToApply();
        }
    }

    /// <summary>Wakes both threads to refuse the waiting callers, because the node is in diagnosis mode.</summary>
    public void WakeToRefuse()
    {
        _applies.RequestRefusal();
        _queue.Wake();
        WakeToApply();
    }

    private void WakeToApply()
    {
        lock (_gate)
        {
            Monitor.PulseAll(_gate);
        }
    }

    /// <summary>
    /// Waits until no thread applies, and takes the apply turn. Nothing is applied until <see cref="ResumeApplying"/>.
    /// </summary>
    /// <returns>False on timeout, or when the wait ended early. The caller then runs a due flush, for which the apply
    /// thread may wait, and tries again.</returns>
    public bool TryPauseApplying(TimeSpan timeout)
    {
        lock (_gate)
        {
            if (_isApplyTurnTaken)
            {
                _isPauseRequested = true;
                Monitor.Wait(_gate, timeout);
                _isPauseRequested = false;
            }

            if (_isApplyTurnTaken)
            {
                return false;
            }

            _isApplyTurnTaken = true;
            return true;
        }
    }

    /// <summary>Releases the apply turn that <see cref="TryPauseApplying"/> took.</summary>
    public void ResumeApplying() => EndApplying();

    /// <summary>
    /// Commits what is queued, applies what callers wait for, ends both threads, and refuses proposals that arrive
    /// later.
    /// </summary>
    public void Stop()
    {
        _host.BeginShutdown();
        Volatile.Write(ref _isStopping, true);
        _queue.Wake();
        if (_writer.ThreadState.HasFlag(ThreadState.Unstarted))
        {
            return;
        }

        _writer.Join();
        _applier.Join();
        RefuseWaiting();
    }

    /// <summary>
    /// Refuses every waiting and every later proposal, because no thread commits or applies any more. Call it while
    /// neither thread runs.
    /// </summary>
    public void RefuseWaiting()
    {
        _writes.Close();
        lock (_host.Gate)
        {
            _applies.RefuseUnapplied(through: long.MaxValue);
        }
    }

    /// <summary>Ends the process at once.</summary>
    public static void EndProcess(Exception failure) =>
        Environment.FailFast(
            failure is OutOfMemoryException
                ? "The process ends, because there is no memory to apply a durable write. The next start applies it. "
                    + "Start the node with more memory (--memory), or send it fewer requests at once."
                : "The process ends, because the commit path found an inconsistent state.",
            failure
        );

    // An exception here would leave tables half written, or callers without an answer. Ending the process loses
    // nothing: the next start applies the entries from the journal.
    private static void RunOrEndProcess(Action work)
    {
        try
        {
            work();
        }
        catch (Exception failure)
        {
            EndProcess(failure);
        }
    }

    private void RunWriter()
    {
        while (true)
        {
            if (_writes.ExpectedCallers > 1 && !_writes.HasWork)
            {
                WaitForNextProposals();
            }

            if (WriteOnce())
            {
                continue;
            }

            if (Volatile.Read(ref _isStopping) && _queue.Count == 0 && !_writes.HasWork)
            {
                break;
            }

            if (!_writes.HasWork)
            {
                _queue.WaitForTurn(ref _isStopping);
            }
        }

        lock (_gate)
        {
            _writerEnded = true;
            Monitor.PulseAll(_gate);
        }
    }

    private void WriteOnceAndReleaseTurn()
    {
        WriteOnce();
        _queue.ReleaseTurn(ref _isStopping);
    }

    /// <summary>Does one journal write: an entry with the waiting proposals, and any other write that is due.</summary>
    /// <returns>False when nothing was written.</returns>
    private bool WriteOnce()
    {
        long startedAt = _time.GetTimestamp();
        if (!_writes.WriteOnce())
        {
            return false;
        }

        long syncTicks = _time.GetTimestamp() - startedAt;
        _averageSyncTicks += (syncTicks - _averageSyncTicks) / AveragedSyncs;
        ApplyOrWakeApplyThread();
        return true;
    }

    /// <summary>
    /// Waits for the callers that were just answered, because clients usually send the next write immediately. Without
    /// this wait, the clients split into two halves, and each sync writes only one half (card of 100 syncs/s, 64
    /// clients: 2,420 writes/s without, 5,500 with). The wait ends when one proposal for each of these callers is
    /// queued, when other work is due, when the node stops, or at a time limit. The limit is a quarter of an average
    /// sync. If a write waits for another member's slow disk, the limit is a whole average sync, because that disk's
    /// sync takes about as long. If a quarter is under 1 ms, the thread yields instead of sleeping, which keeps a core
    /// busy; so this wait is never extended.
    /// </summary>
    private void WaitForNextProposals()
    {
        long waitTicks = _averageSyncTicks / 4;
        long ticksPerMillisecond = _time.TimestampFrequency / MillisecondsPerSecond;
        if (waitTicks < ticksPerMillisecond)
        {
            YieldFor(waitTicks);
            return;
        }

        // Sleep for waits of 1 ms or more: the other threads get the core.
        waitTicks = _writes.AwaitsOtherMembers ? _averageSyncTicks : waitTicks;
        int milliseconds = (int)(waitTicks * MillisecondsPerSecond / _time.TimestampFrequency);
        _queue.WaitForProposals(_writes.ExpectedCallers, milliseconds, ref _isStopping);
    }

    private void YieldFor(long waitTicks)
    {
        long startedAt = _time.GetTimestamp();
        while (
            _queue.Count < _writes.ExpectedCallers
            && !_writes.HasWork
            && _time.GetTimestamp() - startedAt < waitTicks
            && !Volatile.Read(ref _isStopping)
        )
        {
            Thread.Yield();
        }
    }

    /// <summary>
    /// Applies on this thread when the apply thread is idle and no write waits; otherwise wakes the apply thread.
    /// </summary>
    private void ApplyOrWakeApplyThread()
    {
        if (!_applies.HasToApply)
        {
            return;
        }

        lock (_gate)
        {
            // Applying may block on a flush, and the journal thread must not.
            if (_isApplyTurnTaken || _queue.Count > 0 || _writes.HasWork || _applies.MayWaitForFlush)
            {
                Monitor.PulseAll(_gate);
                return;
            }

            _isApplyTurnTaken = true;
        }

        // As soon as a write waits for this thread, the apply thread applies the remaining entries.
        while (_applies.ApplyOnce() && _queue.Count == 0 && !_writes.HasWork && !Volatile.Read(ref _isStopping)) { }

        EndApplying();
    }

    private void RunApplier()
    {
        while (true)
        {
            lock (_gate)
            {
                while (_isApplyTurnTaken || !_applies.HasToApply)
                {
                    if (_writerEnded && !_isApplyTurnTaken)
                    {
                        return;
                    }

                    Monitor.Wait(_gate);
                }

                _isApplyTurnTaken = true;
            }

            bool mayEnd = MayEndApplying();
            while (!mayEnd && _applies.ApplyOnce())
            {
                mayEnd = MayEndApplying();
            }

            EndApplying();
            if (mayEnd)
            {
                return;
            }
        }
    }

    // While a node is stopping, it applies only the entries that callers wait for. It may lag thousands of entries
    // behind the log; it applies those at its next start.
    private bool MayEndApplying() => Volatile.Read(ref _writerEnded) && !_applies.HasAwaitedEntry;

    private void EndApplying()
    {
        lock (_gate)
        {
            _isApplyTurnTaken = false;

            // Without this condition a single caller would wake the apply thread after each write, although that
            // thread has no work.
            if (_isPauseRequested || _writerEnded || _applies.HasToApply)
            {
                Monitor.PulseAll(_gate);
            }
        }
    }
}
