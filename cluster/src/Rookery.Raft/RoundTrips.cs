namespace Rookery.Raft;

/// <summary>
/// The longest round trip to a peer in each of the last 64 periods. Their maximum serves as the 99th percentile. Single
/// round trips are not kept, because rounds of reads make thousands of them in a second: the last 64 would show only a
/// moment.
/// </summary>
internal sealed class RoundTrips
{
    // The length is a power of two, so that a bit mask maps the number of a period to its place.
    private readonly long[] _longest = new long[64];
    private int _period;

    /// <summary>The longest of these round trips, in microseconds; 0 before the first.</summary>
    public long SlowMicroseconds => _longest.Max();

    public void Add(long microseconds)
    {
        int place = _period & (_longest.Length - 1);
        _longest[place] = Math.Max(_longest[place], microseconds);
    }

    /// <summary>Begins the next period, and forgets the oldest one.</summary>
    public void BeginPeriod()
    {
        _period++;
        _longest[_period & (_longest.Length - 1)] = 0;
    }
}
