namespace Rookery.Raft;

/// <summary>The slowest of the last 64 round trips to a peer, which stands for their 99th percentile.</summary>
internal sealed class RoundTrips
{
    private readonly long[] _samples = new long[64];
    private int _count;

    /// <summary>In microseconds; 0 before the first.</summary>
    public long SlowMicroseconds => _samples.Max();

    public void Add(long microseconds) => _samples[_count++ & (_samples.Length - 1)] = microseconds;
}
