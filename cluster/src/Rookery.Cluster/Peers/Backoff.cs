namespace Rookery.Cluster.Peers;

/// <summary>
/// Delays between connection attempts to one member. A delay is 50 ms at first and doubles up to 2 s; each is
/// randomised between half and all of that, so members that lost each other together do not dial together.
/// <see cref="RecordWake"/> cuts a delay short, because a member that is back may lead in a moment, but never below a
/// minimum: 20 ms at first, doubled by each wake up to 640 ms, because two members that dial each other in vain would
/// wake each other without end.
/// </summary>
internal sealed class Backoff(Random random)
{
    private const int ShortestMilliseconds = 50;
    private const int LongestMilliseconds = 2_000;
    private const int ShortestLeastMilliseconds = 20;
    private const int LongestLeastMilliseconds = 640;
    private int _milliseconds = ShortestMilliseconds;
    private int _leastMilliseconds = ShortestLeastMilliseconds;

    /// <summary>Returns the next delay: the minimum, and the remainder that a wake cuts short.</summary>
    public (TimeSpan Beginning, TimeSpan Remainder) Next()
    {
        int longest = _milliseconds;
        _milliseconds = Math.Min(2 * _milliseconds, LongestMilliseconds);
        return (
            TimeSpan.FromMilliseconds(_leastMilliseconds),
            TimeSpan.FromMilliseconds(Math.Max(0, random.Next(longest / 2, longest + 1) - _leastMilliseconds))
        );
    }

    /// <summary>Records that a wake cut a delay short.</summary>
    public void RecordWake()
    {
        _milliseconds = ShortestMilliseconds;
        _leastMilliseconds = Math.Min(2 * _leastMilliseconds, LongestLeastMilliseconds);
    }

    /// <summary>Records that an attempt succeeded.</summary>
    public void Reset()
    {
        _milliseconds = ShortestMilliseconds;
        _leastMilliseconds = ShortestLeastMilliseconds;
    }
}
