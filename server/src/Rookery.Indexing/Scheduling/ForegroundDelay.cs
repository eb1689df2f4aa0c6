namespace Rookery.Indexing.Scheduling;

/// <summary>
/// Measures how long requests wait for a thread of the pool while documents are indexed. The longer they wait, the
/// smaller is the share of a core that indexing may use. The probe is an empty work item in the pool's queue. At most
/// one probe is queued. Thread-safe.
/// </summary>
public sealed class ForegroundDelay
{
    /// <summary>Up to this delay, indexing has its full share.</summary>
    public static readonly TimeSpan Unnoticed = TimeSpan.FromMilliseconds(5);

    /// <summary>From this delay on, indexing has <see cref="MinShare"/>.</summary>
    public static readonly TimeSpan TooLong = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// The least share, from 0 to 1. It is not 0, because an index that is never built makes each query expensive.
    /// </summary>
    public const double MinShare = 0.125;

    // A longer delay replaces the last one at once. A shorter one moves it by this fraction (1/16) of the difference,
    // rounded up.
    private const int DecayDivisor = 16;

    private readonly TimeProvider _time;
    private readonly Action<Action> _run;
    private long _probeQueuedAt;
    private long _delayTicks;
    private int _isProbeQueued;

    /// <summary>Measures the thread pool.</summary>
    public ForegroundDelay(TimeProvider time)
        : this(time, static work => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false))
    { }

    internal ForegroundDelay(TimeProvider time, Action<Action> run) => (_time, _run) = (time, run);

    /// <summary>
    /// The current delay: the last measured delay or the age of the queued probe, whichever is longer.
    /// </summary>
    public TimeSpan Delay
    {
        get
        {
            var lastDelay = TimeSpan.FromTicks(Volatile.Read(ref _delayTicks));
            if (Volatile.Read(ref _isProbeQueued) == 0)
            {
                return lastDelay;
            }

            var waiting = _time.GetElapsedTime(Volatile.Read(ref _probeQueuedAt));
            return waiting > lastDelay ? waiting : lastDelay;
        }
    }

    /// <summary>
    /// The share of its configured core time that indexing may use, from <see cref="MinShare"/> to 1.
    /// </summary>
    public double Share
    {
        get
        {
            double excess = (Delay - Unnoticed) / (TooLong - Unnoticed);
            return Math.Clamp(1 - ((1 - MinShare) * excess), MinShare, 1);
        }
    }

    /// <summary>Queues a probe, unless one is queued already.</summary>
    public void Measure()
    {
        if (Interlocked.Exchange(ref _isProbeQueued, 1) == 0)
        {
            Volatile.Write(ref _probeQueuedAt, _time.GetTimestamp());
            _run(RecordDelay);
        }
    }

    private void RecordDelay()
    {
        long took = _time.GetElapsedTime(Volatile.Read(ref _probeQueuedAt)).Ticks;
        long lastDelay = Volatile.Read(ref _delayTicks);
        Volatile.Write(
            ref _delayTicks,
            took > lastDelay ? took : lastDelay - ((lastDelay - took + DecayDivisor - 1) / DecayDivisor)
        );
        Volatile.Write(ref _isProbeQueued, 0);
    }
}
