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
    private bool _hasWork = true;
    private bool _minutePassed;
    private bool _isStopping;

    public NodeMaintenance(NodeCore core, TimeProvider time)
    {
        _core = core;
        core.Storage.WorkArrived = Wake;
        _timer = time.CreateTimer(_ => OnMinute(), null, IdleInterval, IdleInterval);
        _thread = new Thread(Run) { Name = "maintenance", IsBackground = true, Priority = ThreadPriority.BelowNormal };
    }

    public void Start() => _thread.Start();

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
        Volatile.Write(ref _isStopping, true);
        _timer.Dispose();
        Wake();
        if (!_thread.ThreadState.HasFlag(ThreadState.Unstarted))
        {
            _thread.Join();
        }
    }

    private void OnMinute()
    {
        Volatile.Write(ref _minutePassed, true);
        Wake();
    }

    private void Run()
    {
        while (!Volatile.Read(ref _isStopping))
        {
            bool failed = false;
            try
            {
                while (!Volatile.Read(ref _isStopping) && _core.WorkOnce())
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

            Sleep(failed ? RetryInterval : Timeout.InfiniteTimeSpan);
        }
    }

    private void Sleep(TimeSpan longest)
    {
        lock (_gate)
        {
            if (!_hasWork)
            {
                Monitor.Wait(_gate, longest);
            }

            _hasWork = false;
        }
    }
}
