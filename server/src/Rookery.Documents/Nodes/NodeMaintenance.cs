using Rookery.Disk;

namespace Rookery.Documents;

/// <summary>
/// The one low-priority thread behind a node: flushes, compacts, prepares journal segments; once a minute it scrubs a little and gives idle memory back.
/// It sleeps when there is nothing to do, and writes nothing then.
/// </summary>
internal sealed class NodeMaintenance : IDisposable
{
    private const int ScrubBytesPerMinute = 4 << 20;
    private static readonly TimeSpan IdleInterval = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    private readonly NodeCore _core;
    private readonly Thread _thread;
    private readonly object _gate = new();
    private readonly ITimer _timer;
    private readonly ManualResetEventSlim _stopping = new();
    private bool _hasWork = true;
    private bool _minutePassed;

    public NodeMaintenance(NodeCore core, TimeProvider time)
    {
        _core = core;
        core.Storage.WorkArrived = Wake;
        _timer = time.CreateTimer(_ => OnMinute(), null, IdleInterval, IdleInterval);
        _thread = new Thread(Run) { Name = "maintenance", IsBackground = true, Priority = ThreadPriority.BelowNormal };
    }

    public void Start()
    {
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
        _timer.Dispose();
        Wake();
        if (!_thread.ThreadState.HasFlag(ThreadState.Unstarted))
        {
            _thread.Join();
        }

        _stopping.Dispose();
    }

    private void OnMinute()
    {
        Volatile.Write(ref _minutePassed, true);
        Wake();
    }

    private void Run()
    {
        while (!_stopping.IsSet)
        {
            bool failed = false;
            try
            {
                while (!_stopping.IsSet && _core.WorkOnce())
                {
                }

                if (Volatile.Read(ref _minutePassed))
                {
                    Volatile.Write(ref _minutePassed, false);
                    _core.Storage.ScrubOnce(ScrubBytesPerMinute);
                    _core.Storage.TrimIdle();
                }
            }
            catch (DiskException)
            {
                // A spare segment or a release failed; the commit path does without, and says so itself when it cannot.
                failed = true;
            }

            if (failed || _core.Storage.HasFailed)
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
