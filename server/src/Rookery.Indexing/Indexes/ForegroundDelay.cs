namespace Rookery.Indexing.Indexes;

/// <summary>
/// Measures how long a request's work queues for a pool thread while documents are indexed, and derives the share of a
/// core that indexing may use. The probe is an empty work item queued to the thread pool; at most one is queued at a
/// time. Thread-safe.
/// </summary>
public sealed class ForegroundDelay
{
    /// <summary>Up to this delay indexing keeps its full share.</summary>
    public static readonly TimeSpan Unnoticed = TimeSpan.FromMilliseconds(5);

    /// <summary>From this delay on indexing has its least share.</summary>
    public static readonly TimeSpan TooLong = TimeSpan.FromMilliseconds(50);

    /// <summary>The least share, from 0 to 1: an index that is never built makes each query expensive.</summary>
    public const double LeastShare = 0.125;

    // A longer delay counts at once; a shorter one moves the measured delay by one Forgotten-th of the difference.
    private const int Forgotten = 16;

    private readonly TimeProvider _time;
    private readonly Action<Action> _run;
    private long _askedAt;
    private long _delayTicks;
    private int _isAsked;

    /// <summary>Measures the thread pool.</summary>
    public ForegroundDelay(TimeProvider time)
        : this(time, static work => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false))
    { }

    internal ForegroundDelay(TimeProvider time, Action<Action> run) => (_time, _run) = (time, run);

    /// <summary>The current delay: the last measured one, or the age of the queued probe if that is longer.</summary>
    public TimeSpan Delay
    {
        get
        {
            var known = TimeSpan.FromTicks(Volatile.Read(ref _delayTicks));
            if (Volatile.Read(ref _isAsked) == 0)
            {
                return known;
            }

            var waiting = _time.GetElapsedTime(Volatile.Read(ref _askedAt));
            return waiting > known ? waiting : known;
        }
    }

    /// <summary>
    /// The share of its configured core time that indexing may use, from <see cref="LeastShare"/> to 1.
    /// </summary>
    public double Share
    {
        get
        {
            double over = (Delay - Unnoticed) / (TooLong - Unnoticed);
            return Math.Clamp(1 - ((1 - LeastShare) * over), LeastShare, 1);
        }
    }

    /// <summary>Queues a probe, unless one is queued already.</summary>
    public void Measure()
    {
        if (Interlocked.Exchange(ref _isAsked, 1) == 0)
        {
            Volatile.Write(ref _askedAt, _time.GetTimestamp());
            _run(Answered);
        }
    }

    private void Answered()
    {
        long took = _time.GetElapsedTime(Volatile.Read(ref _askedAt)).Ticks;
        long known = Volatile.Read(ref _delayTicks);
        Volatile.Write(ref _delayTicks, took > known ? took : known - ((known - took + Forgotten - 1) / Forgotten));
        Volatile.Write(ref _isAsked, 0);
    }
}
