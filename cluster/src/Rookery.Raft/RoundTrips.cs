namespace Rookery.Raft;

/// <summary>The last 64 round trips to a peer. Their maximum serves as the 99th percentile.</summary>
internal sealed class RoundTrips
{
    // The length is a power of two, so that a bit mask maps the count to the oldest place.
    private readonly long[] _samples = new long[64];
    private int _count;

    /// <summary>The longest of these round trips, in microseconds; 0 before the first.</summary>
    public long SlowMicroseconds => _samples.Max();

    public void Add(long microseconds)
    {
        _samples[_count & (_samples.Length - 1)] = microseconds;
        _count++;
    }
}
