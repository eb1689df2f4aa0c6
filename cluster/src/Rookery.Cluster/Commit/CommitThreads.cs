namespace Rookery.Cluster.Commit;

/// <summary>
/// The two threads of the commit path. One writes and syncs; while it does, the other applies what is committed. When
/// nothing else waits, the first applies what it wrote itself. A lone caller, who finds the writing thread asleep, does
/// both on his own thread: waking another and being woken costs more than the rest of the commit (one connection, two
/// cores: 3,400 writes/s and 190 µs of CPU each over the threads, 4,570 and 140 µs without).
/// </summary>
internal sealed class CommitThreads
{
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
    private bool _isApplying;
    private bool _isPauseRequested;

    // Of whoever's turn it is to write.
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
        Action commit = WriteOnTurn;
        CommitHere = () => Guard(commit);
        _writer = new Thread(() => Guard(WriteFrames))
        {
            Name = "journal",
            IsBackground = true,
            Priority = ThreadPriority.AboveNormal,
        };
        _applier = new Thread(() => Guard(ApplyFrames))
        {
            Name = "apply",
            IsBackground = true,
            Priority = ThreadPriority.AboveNormal,
        };
    }

    /// <summary>
    /// Commits on the thread of a caller who has the turn of the writing thread, and gives the turn back.
    /// </summary>
    public Action CommitHere { get; }

    public void Start()
    {
        _applier.Start();
        _writer.Start();
    }

    /// <summary>There may be something to write that is not in the queue, or to refuse.</summary>
    public void WakeToWrite() => _queue.Wake();

    /// <summary>Has applied what there is to apply.</summary>
    public void WakeToApplyIfDue()
    {
        if (_applies.HasToApply)
        {
            WakeToApply();
        }
    }

    /// <summary>Has both threads refuse what waits: the node is latched.</summary>
    public void RefuseNext()
    {
        _applies.RefuseNext();
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
    /// Waits until no thread applies, then blocks applying until <see cref="ResumeApplying"/>.
    /// </summary>
    /// <returns>False when somebody still applies: who does may wait for work of the thread that asks.</returns>
    public bool TryPauseApplying(TimeSpan patience)
    {
        lock (_gate)
        {
            if (_isApplying)
            {
                _isPauseRequested = true;
                Monitor.Wait(_gate, patience);
                _isPauseRequested = false;
            }

            if (_isApplying)
            {
                return false;
            }

            return _isApplying = true;
        }
    }

    /// <summary>Others may apply again.</summary>
    public void ResumeApplying() => EndApplying();

    /// <summary>Commits what is queued, ends both threads, and answers whoever came too late.</summary>
    public void Stop()
    {
        _host.RefuseBecauseStopping();
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
    /// Answers what still waits when nobody will commit or apply it here any more. What comes later is refused. While
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
                ? "The node ends, because there is no memory to carry out a durable write: it is carried out "
                    + "when the node is started again. Give it more with --memory, or less to do at once."
                : "The node ends, because the commit path met a state that must not be.",
            failure
        );

    // What comes up to here would leave tables half written, or callers without an answer for ever. The journal has
    // everything: whoever starts the process again loses nothing.
    private static void Guard(Action work)
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

    private void WriteFrames()
    {
        while (true)
        {
            if (_writes.Callers > 1 && !_writes.HasWork)
            {
                Gather();
            }

            if (WriteFrame())
            {
                continue;
            }

            if (Volatile.Read(ref _isStopping) && _queue.Count == 0 && !_writes.HasWork)
            {
                break;
            }

            if (!_writes.HasWork)
            {
                _queue.Wait(ref _isStopping);
            }
        }

        lock (_gate)
        {
            _writerEnded = true;
            Monitor.PulseAll(_gate);
        }
    }

    private void WriteOnTurn()
    {
        WriteFrame();
        _queue.GiveTurnBack(ref _isStopping);
    }

    /// <summary>Makes durable what waits, as much as fits in a frame.</summary>
    /// <returns>False when nothing waited, or it was refused.</returns>
    private bool WriteFrame()
    {
        long begun = _time.GetTimestamp();
        if (!_writes.WriteOnce())
        {
            return false;
        }

        // Cards answer some syncs at once and then none for a tenth of a second: the last alone says little about the
        // next.
        _averageSyncTicks += (_time.GetTimestamp() - begun - _averageSyncTicks) / 8;
        ApplyHereOrThere();
        return true;
    }

    /// <summary>
    /// Callers that were just answered come back within moments. Waiting for them, for a quarter of an average sync at
    /// most, keeps closed-loop clients from splitting into halves that take turns (card of 100 syncs/s, 64 clients:
    /// 2,420 writes/s without, 5,500 with). It ends as soon as all are back. While a write waits for another member's
    /// slow card, the wait is a whole average sync: that card has the write by then. Halves once made would stay.
    /// </summary>
    private void Gather()
    {
        long most = _averageSyncTicks / 4;
        if (most >= _time.TimestampFrequency / 1000)
        {
            most = _writes.AwaitsOthers ? _averageSyncTicks : most;
            // A slow disk leaves time to sleep, and with it the core to those who are awaited.
            _queue.WaitFor(_writes.Callers, (int)(most * 1000 / _time.TimestampFrequency));
            return;
        }

        long begun = _time.GetTimestamp();
        while (
            _queue.Count < _writes.Callers
            && !_writes.HasWork
            && _time.GetTimestamp() - begun < most
            && !Volatile.Read(ref _isStopping)
        )
        {
            Thread.Yield();
        }
    }

    /// <summary>
    /// Applies here when the other thread is idle and nothing waits to be written; else leaves it to the other.
    /// </summary>
    private void ApplyHereOrThere()
    {
        if (!_applies.HasToApply)
        {
            return;
        }

        lock (_gate)
        {
            // Applying may block on a flush; the journal thread must not.
            if (_isApplying || _queue.Count > 0 || _writes.HasWork || _applies.ApplyMayWait)
            {
                Monitor.PulseAll(_gate);
                return;
            }

            _isApplying = true;
        }

        // What is committed while this applies may be left to the other thread: writers wait for this one.
        while (_applies.ApplyOnce() && _queue.Count == 0 && !_writes.HasWork) { }

        EndApplying();
    }

    private void ApplyFrames()
    {
        while (true)
        {
            lock (_gate)
            {
                while (_isApplying || !_applies.HasToApply)
                {
                    if (_writerEnded && !_isApplying)
                    {
                        return;
                    }

                    Monitor.Wait(_gate);
                }

                _isApplying = true;
            }

            while (_applies.ApplyOnce()) { }

            EndApplying();
        }
    }

    private void EndApplying()
    {
        lock (_gate)
        {
            _isApplying = false;

            // A lone caller would wake the other thread after each write, for nothing.
            if (_isPauseRequested || _writerEnded || _applies.HasToApply)
            {
                Monitor.PulseAll(_gate);
            }
        }
    }
}
