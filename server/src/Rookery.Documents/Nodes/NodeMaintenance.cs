using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>
/// The one low-priority thread behind a node: flushes, compacts, prepares journal segments; four times a minute it
/// scrubs a little and gives idle memory back. Beside what writers wait for it takes the share of a core that
/// <see cref="Node.BackgroundShare"/> says. It sleeps when there is nothing to do, and writes nothing then.
/// </summary>
internal sealed class NodeMaintenance : IDisposable
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    private readonly NodeStore _core;
    private readonly Housekeeping _housekeeping;
    private readonly Action<string>? _troubleFound;
    private readonly Thread _thread;
    private readonly object _gate = new();
    private readonly ITimer _timer;
    private readonly ManualResetEventSlim _stopping = new();
    private bool _hasWork = true;
    private bool _isRoundDue;
    private long _steps;
    private bool _hasTrouble;
    private bool _isWorking;

    public NodeMaintenance(NodeStore core, Action<string>? troubleFound, TimeProvider time)
    {
        _core = core;
        _housekeeping = new Housekeeping(core.Storage);
        _troubleFound = troubleFound;
        core.Storage.WorkArrived = Wake;
        _timer = time.CreateTimer(_ => BeginRound(), null, Housekeeping.Interval, Housekeeping.Interval);
        _thread = new Thread(Run)
        {
            Name = "maintenance",
            IsBackground = true,
            Priority = ThreadPriority.BelowNormal,
        };
    }

    /// <summary>Steps of work done since the start, rounds of housekeeping not counted.</summary>
    public long Steps => Volatile.Read(ref _steps);

    /// <summary>Whether the last step was one of work, and the next has not been looked for in vain.</summary>
    public bool IsWorking => Volatile.Read(ref _isWorking);

    public void Start()
    {
        _core.Pacer.Share = DutyCyclePacer.ShareWithoutSensor;
        _core.Storage.HasBackgroundWork = true;
        _thread.Start();
    }

    /// <summary>There may be something to do.</summary>
    public void Wake()
    {
        lock (_gate)
        {
            _hasWork = true;
            Monitor.Pulse(_gate);
        }
    }

    /// <summary>Ends the thread after the step at hand.</summary>
    public void Dispose()
    {
        _stopping.Set();
        _core.Pacer.Dispose(); // ends its rests
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
                // A spare segment or a release failed; the commit path does without, and says so itself when it cannot.
                failed = true;
            }

            TellTrouble();
            if (failed || _core.Storage.Failure is not null)
            {
                // Writers that wait keep saying that there is work; a full disk is not asked more often for that.
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
                _housekeeping.DoRound(mayScrub: !_core.Pacer.IsPaused);
                _core.Offers.GiveUpIfDue();
            }
        } while (!_stopping.IsSet && DoStep());

        if (_steps > before)
        {
            _housekeeping.WorkEnded();
        }
    }

    private bool DoStep()
    {
        bool done = _core.WorkOnce();
        Volatile.Write(ref _steps, _steps + (done ? 1 : 0));
        Volatile.Write(ref _isWorking, done);
        return done;
    }

    // Once until it is over: what fails is tried again every second, each time with another file.
    private void TellTrouble()
    {
        string? failure = _core.Storage.Failure;
        if (failure is not null && !_hasTrouble)
        {
            _troubleFound?.Invoke(failure);
        }

        _hasTrouble = failure is not null;
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
