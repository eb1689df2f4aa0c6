using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The node's low-priority maintenance thread. It flushes, merges and prepares journal segments. Every 15 s it scrubs a
/// little and releases idle memory. <see cref="Node.BackgroundShare"/> limits its share of a core, except for work that
/// writers wait for. Without work it sleeps and writes nothing.
/// </summary>
internal sealed class NodeMaintenance : IDisposable
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    private readonly NodeStore _store;
    private readonly Housekeeping _housekeeping;
    private readonly Action<string>? _troubleFound;
    private readonly Thread _thread;
    private readonly object _gate = new();
    private readonly ITimer _timer;
    private readonly ManualResetEventSlim _stopping = new();
    private bool _hasWork = true;
    private bool _isRoundDue;
    private long _steps;
    private bool _hasReportedFailure; // of the current failure
    private bool _isWorking;

    public NodeMaintenance(NodeStore store, Action<string>? troubleFound, TimeProvider time)
    {
        _store = store;
        _housekeeping = new Housekeeping(store.Storage);
        _troubleFound = troubleFound;
        store.Storage.Memtables.WorkArrived = Wake;
        _timer = time.CreateTimer(_ => BeginRound(), null, Housekeeping.Interval, Housekeeping.Interval);
        _thread = new Thread(Run)
        {
            Name = "maintenance",
            IsBackground = true,
            Priority = ThreadPriority.BelowNormal,
        };
    }

    /// <summary>Number of steps since the start, without rounds of housekeeping.</summary>
    public long Steps => Volatile.Read(ref _steps);

    /// <summary>Whether the last call of <see cref="DoStep"/> found work.</summary>
    public bool IsWorking => Volatile.Read(ref _isWorking);

    public void Start()
    {
        _store.Background.Pacer.Share = DutyCyclePacer.ShareWithoutSensor;
        _store.Storage.Memtables.HasBackgroundWork = true;
        _thread.Start();
    }

    /// <summary>Wakes the thread to look for work.</summary>
    public void Wake()
    {
        lock (_gate)
        {
            _hasWork = true;
            Monitor.Pulse(_gate);
        }
    }

    /// <summary>Ends the thread after the current step.</summary>
    public void Dispose()
    {
        _stopping.Set();
        _store.Background.Pacer.Dispose(); // ends its pauses
        _timer.Dispose();
        Wake();
        if (!_thread.ThreadState.HasFlag(ThreadState.Unstarted))
        {
            _thread.Join();
        }

        _stopping.Dispose();
    }

    private void BeginRound()
    {
        Volatile.Write(ref _isRoundDue, true);
        Wake();
    }

    private void Run()
    {
        while (!_stopping.IsSet)
        {
            bool failed = false;
            try
            {
                Work();
            }
            catch (DiskException)
            {
                // Preparing or deleting a segment failed. Writes may continue nevertheless. If they fail too, they
                // report an error themselves.
                failed = true;
            }

            ReportFailure();
            if (failed || _store.Storage.Failure is not null)
            {
                // Waiting writers request work again and again. Without this pause, a full disk would be retried all
                // the time.
                _stopping.Wait(RetryInterval);
            }
            else
            {
                Sleep();
            }
        }
    }

    private void Work()
    {
        long before = _steps;
        do
        {
            if (Volatile.Read(ref _isRoundDue))
            {
                Volatile.Write(ref _isRoundDue, false);
                _housekeeping.DoRound(mayScrub: !_store.Background.Pacer.IsPaused);
                _store.Offers.WithdrawDue();
                _store.Attachments.Maintenance.BeginRound();
            }
        } while (!_stopping.IsSet && DoStep());

        if (_steps > before)
        {
            _housekeeping.WorkEnded();
        }
    }

    private bool DoStep()
    {
        bool done = _store.Background.DoStep();
        Volatile.Write(ref _steps, _steps + (done ? 1 : 0));
        Volatile.Write(ref _isWorking, done);
        return done;
    }

    // Reports a failure once and not again until it is over, because the failed step is retried every second, each time
    // with another file name.
    private void ReportFailure()
    {
        string? failure = _store.Storage.Failure;
        if (failure is not null && !_hasReportedFailure)
        {
            _troubleFound?.Invoke(failure);
        }

        _hasReportedFailure = failure is not null;
    }

    private void Sleep()
    {
        lock (_gate)
        {
            if (!_hasWork)
            {
                Monitor.Wait(_gate);
            }

            _hasWork = false;
        }
    }
}
