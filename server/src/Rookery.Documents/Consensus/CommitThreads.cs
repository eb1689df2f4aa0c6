namespace Rookery.Documents;

/// <summary>
/// The two threads of the commit path. One writes and syncs; while it does, the other applies the frame before. When nothing else waits, the first applies
/// its frame itself. A lone caller, who finds the writing thread asleep, does both on his own thread: waking another and being woken costs more than the rest of
/// the commit (one connection, two cores: 3,400 writes/s and 190 µs of CPU each over the threads, 4,570 and 140 µs without).
/// </summary>
internal sealed class CommitThreads
{
    // One frame is being written, one applied, one waits for either.
    private const int FrameCount = 3;

    private readonly SingleNodeConsensus _consensus;
    private readonly TimeProvider _time;
    private readonly Thread _writer;
    private readonly Thread _applier;
    private readonly object _gate = new();
    private readonly Queue<CommitFrame> _toApply = new();
    private readonly Stack<CommitFrame> _free = new();
    private bool _isStopping;
    private bool _writerEnded;
    private bool _isApplying;

    // Of whoever's turn it is to write.
    private long _averageSyncTicks;
    private int _callers;

    public CommitThreads(SingleNodeConsensus consensus, TimeProvider time)
    {
        _consensus = consensus;
        _time = time;
        for (int i = 0; i < FrameCount; i++)
        {
            _free.Push(new CommitFrame());
        }

        Action commitHere = CommitHere;
        _consensus.CommitHere = () => Guard(commitHere);
        _writer = new Thread(() => Guard(WriteFrames)) { Name = "journal", IsBackground = true, Priority = ThreadPriority.AboveNormal };
        _applier = new Thread(() => Guard(ApplyFrames)) { Name = "apply", IsBackground = true, Priority = ThreadPriority.AboveNormal };
    }

    /// <summary>Called from the writing thread after each frame.</summary>
    public Action? FrameWritten { get; set; }

    public void Start()
    {
        _applier.Start();
        _writer.Start();
    }

    /// <summary>Commits what is queued, ends both threads, and answers whoever came too late.</summary>
    public void Stop()
    {
        _consensus.RefuseBecauseStopping();
        Volatile.Write(ref _isStopping, true);
        _consensus.Queue.Wake();
        if (_writer.ThreadState.HasFlag(System.Threading.ThreadState.Unstarted))
        {
            return;
        }

        _writer.Join();
        _applier.Join();
        _consensus.RefuseWaiting();
    }

    // What comes up to here would leave tables half written, or callers without an answer for ever. The journal has everything: whoever starts the process again loses nothing.
    private static void Guard(Action work)
    {
        try
        {
            work();
        }
        catch (Exception failure)
        {
            Environment.FailFast(
                failure is OutOfMemoryException
                    ? "The node ends, because there is no memory to carry out a durable write: it is carried out when the node is started again. Give it more with --memory, or less to do at once."
                    : "The node ends, because the commit path met a state that must not be.",
                failure);
        }
    }

    private void WriteFrames()
    {
        while (true)
        {
            if (!_consensus.HasWaiting && _callers > 1)
            {
                Gather();
            }

            if (WriteFrame())
            {
                continue;
            }

            if (Volatile.Read(ref _isStopping) && _consensus.Queue.Count == 0 && !_consensus.HasWaiting)
            {
                break;
            }

            if (!_consensus.HasWaiting)
            {
                _consensus.Queue.Wait(ref _isStopping);
            }
        }

        lock (_gate)
        {
            _writerEnded = true;
            Monitor.PulseAll(_gate);
        }
    }

    private void CommitHere()
    {
        WriteFrame();
        _consensus.Queue.GiveTurnBack(ref _isStopping, _consensus.HasWaiting);
    }

    /// <summary>Commits what waits, as much as fits in a frame.</summary>
    /// <returns>False when nothing waited, or it was refused.</returns>
    private bool WriteFrame()
    {
        var frame = TakeFree();
        long begun = _time.GetTimestamp();
        if (!_consensus.Write(frame))
        {
            _callers = 0;
            Free(frame);
            return false;
        }

        // Cards answer some syncs at once and then none for a tenth of a second: the last alone says little about the next.
        _averageSyncTicks += (_time.GetTimestamp() - begun - _averageSyncTicks) / 8;
        _callers = frame.Count + _consensus.Queue.Count;
        Pass(frame);
        FrameWritten?.Invoke();
        return true;
    }

    /// <summary>
    /// Callers that were just answered come back within moments. Waiting for them, for a quarter of an average sync at most, keeps closed-loop clients from
    /// splitting into halves that take turns (card of 100 syncs/s, 64 clients: 2,420 writes/s without, 5,500 with). It ends as soon as all are back.
    /// </summary>
    private void Gather()
    {
        var queue = _consensus.Queue;
        long most = _averageSyncTicks / 4;
        if (most >= _time.TimestampFrequency / 1000)
        {
            // A slow disk leaves time to sleep, and with it the core to those who are awaited.
            queue.WaitFor(_callers, (int)(most * 1000 / _time.TimestampFrequency));
            return;
        }

        long begun = _time.GetTimestamp();
        while (queue.Count < _callers && _time.GetTimestamp() - begun < most && !Volatile.Read(ref _isStopping))
        {
            Thread.Yield();
        }
    }

    /// <summary>Applies the frame here when the other thread is idle and nothing waits to be written; else hands it over.</summary>
    private void Pass(CommitFrame frame)
    {
        lock (_gate)
        {
            if (_isApplying || _toApply.Count > 0 || _consensus.Queue.Count > 0 || _consensus.HasWaiting)
            {
                _toApply.Enqueue(frame);
                Monitor.PulseAll(_gate);
                return;
            }
        }

        _consensus.Apply(frame);
        Free(frame);
    }

    private void ApplyFrames()
    {
        while (true)
        {
            CommitFrame? frame;
            lock (_gate)
            {
                while (!_toApply.TryDequeue(out frame))
                {
                    if (_writerEnded)
                    {
                        return;
                    }

                    Monitor.Wait(_gate);
                }

                _isApplying = true;
            }

            _consensus.Apply(frame);
            lock (_gate)
            {
                _isApplying = false;
                _free.Push(frame);
                Monitor.PulseAll(_gate);
            }
        }
    }

    private CommitFrame TakeFree()
    {
        lock (_gate)
        {
            CommitFrame? frame;
            while (!_free.TryPop(out frame))
            {
                Monitor.Wait(_gate);
            }

            return frame;
        }
    }

    private void Free(CommitFrame frame)
    {
        lock (_gate)
        {
            _free.Push(frame);
        }
    }
}
