namespace Rookery.Cluster.Peers;

/// <summary>How long to wait before the next attempt: 50 ms at first, twice as long each time up to 2 s, and each between half and all of it, so that members which lost each other together do not call together.</summary>
internal sealed class Backoff(Random random)
{
    private const int ShortestMilliseconds = 50;
    private const int LongestMilliseconds = 2_000;
    private int milliseconds = ShortestMilliseconds;

    /// <summary>The next wait.</summary>
    public TimeSpan Next()
    {
        int longest = milliseconds;
        milliseconds = Math.Min(2 * milliseconds, LongestMilliseconds);
        return TimeSpan.FromMilliseconds(random.Next(longest / 2, longest + 1));
    }

    /// <summary>An attempt succeeded.</summary>
    public void Reset() => milliseconds = ShortestMilliseconds;
}
