namespace Rookery.Cluster.Peers;

/// <summary>
/// How long to wait before the next attempt: 50 ms at first, twice as long each time up to 2 s, and each between half
/// and all of it, so that members which lost each other together do not call together. A wake ends a wait, because who
/// is there again may lead in a moment, but not its beginning: 20 ms at first, twice as long after each wake up to 640
/// ms, because two that call each other in vain would wake each other without end.
/// </summary>
internal sealed class Backoff(Random random)
{
    private const int ShortestMilliseconds = 50;
    private const int LongestMilliseconds = 2_000;
    private const int ShortestLeastMilliseconds = 20;
    private const int LongestLeastMilliseconds = 640;
    private int _milliseconds = ShortestMilliseconds;
    private int _leastMilliseconds = ShortestLeastMilliseconds;

    /// <summary>The next wait: its beginning, and what a wake ends of it.</summary>
    public (TimeSpan Beginning, TimeSpan Remainder) Next()
    {
        int longest = _milliseconds;
        _milliseconds = Math.Min(2 * _milliseconds, LongestMilliseconds);
        return (
            TimeSpan.FromMilliseconds(_leastMilliseconds),
            TimeSpan.FromMilliseconds(Math.Max(0, random.Next(longest / 2, longest + 1) - _leastMilliseconds))
        );
    }

    /// <summary>A wake ended a wait.</summary>
    public void Woken()
    {
        _milliseconds = ShortestMilliseconds;
        _leastMilliseconds = Math.Min(2 * _leastMilliseconds, LongestLeastMilliseconds);
    }

    /// <summary>An attempt succeeded.</summary>
    public void Reset()
    {
        _milliseconds = ShortestMilliseconds;
        _leastMilliseconds = ShortestLeastMilliseconds;
    }
}
