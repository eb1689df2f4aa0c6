namespace Rookery.Indexing.Indexes;

/// <summary>
/// How long the work of requests waits for a thread while documents are indexed, and which share of a core is left to
/// indexing for that. Measured by handing work of no length to the threads that answer requests: before each step, and
/// not more than one at once. Thread-safe.
/// </summary>
public sealed class ForegroundDelay
{
    /// <summary>So much is noticed by nobody: nothing gives way.</summary>
    public static readonly TimeSpan Unnoticed = TimeSpan.FromMilliseconds(5);

    /// <summary>From here on indexing has the least.</summary>
    public static readonly TimeSpan TooLong = TimeSpan.FromMilliseconds(50);

    /// <summary>The share that is always left: an index that never ends makes each query dear.</summary>
    public const double LeastShare = 0.125;

    // A long wait counts at once, and is forgotten within about so many short ones.
    private const int Forgotten = 16;

    private readonly TimeProvider _time;
    private readonly Action<Action> _run;
    private long _askedAt;
    private long _delayTicks;
    private int _isAsked;

    /// <summary>Measured at the threads of the pool.</summary>
    public ForegroundDelay(TimeProvider time)
        : this(time, static work => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false))
    { }

    internal ForegroundDelay(TimeProvider time, Action<Action> run) => (_time, _run) = (time, run);

    /// <summary>The wait as it is now.</summary>
    public TimeSpan Delay
    {
        get
        {
            var known = TimeSpan.FromTicks(Volatile.Read(ref _delayTicks));
            if (Volatile.Read(ref _isAsked) == 0)
            {
                return known;
            }

            // What still waits says already how long at least.
            var waiting = _time.GetElapsedTime(Volatile.Read(ref _askedAt));
            return waiting > known ? waiting : known;
        }
    }

    /// <summary>The share of what indexing may have otherwise, from <see cref="LeastShare"/> to 1.</summary>
    public double Share
    {
        get
        {
            double over = (Delay - Unnoticed) / (TooLong - Unnoticed);
            return Math.Clamp(1 - ((1 - LeastShare) * over), LeastShare, 1);
        }
    }

    /// <summary>Measures, unless that is under way.</summary>
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
