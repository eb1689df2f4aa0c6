namespace Rookery.Cluster.Peers;

/// <summary>
/// Computes the delays between connection attempts to one member. The delay is 50 ms at first and doubles up to 2 s.
/// Each wait is a random part of the delay, from half to all of it, so that members do not dial each other at the same
/// time. A wake (<see cref="OutgoingLink.Wake"/>) cuts a wait short, but not below a minimum of 20 ms, which each wake
/// doubles up to 640 ms. Without a minimum, two members that dial each other in vain would wake each other endlessly.
/// </summary>
internal sealed class Backoff(Random random)
{
    private const int ShortestMilliseconds = 50;
    private const int LongestMilliseconds = 2_000;
    private const int ShortestMinimumMilliseconds = 20;
    private const int LongestMinimumMilliseconds = 640;
    private int _milliseconds = ShortestMilliseconds;
    private int _minimumMilliseconds = ShortestMinimumMilliseconds;

    /// <summary>
    /// Returns the next delay in two parts: the minimum, and the remainder, which a wake cuts short.
    /// </summary>
    public (TimeSpan Minimum, TimeSpan Remainder) Next()
    {
        int longest = _milliseconds;
        _milliseconds = Math.Min(2 * _milliseconds, LongestMilliseconds);
        return (
            TimeSpan.FromMilliseconds(_minimumMilliseconds),
            TimeSpan.FromMilliseconds(Math.Max(0, random.Next(longest / 2, longest + 1) - _minimumMilliseconds))
        );
    }

    /// <summary>Records that a wake cut a delay short.</summary>
    public void RecordWake()
    {
        _milliseconds = ShortestMilliseconds;
        _minimumMilliseconds = Math.Min(2 * _minimumMilliseconds, LongestMinimumMilliseconds);
    }

    /// <summary>Records that an attempt succeeded.</summary>
    public void Reset()
    {
        _milliseconds = ShortestMilliseconds;
        _minimumMilliseconds = ShortestMinimumMilliseconds;
    }
}
