namespace Rookery.Cluster;

/// <summary>
/// The durations of the last 128 journal writes, in microseconds. Their 99th percentile determines the election
/// timeout; a median would hide the stalls that depose leaders. Written by one thread at a time, read by any.
/// </summary>
internal sealed class SyncTimes
{
    private const int Capacity = 128;

    private readonly long[] _microseconds = new long[Capacity];
    private long _count;

    public void Add(long microseconds)
    {
        Volatile.Write(ref _microseconds[_count % Capacity], microseconds);
        Volatile.Write(ref _count, _count + 1);
    }

    /// <summary>
    /// Returns the 99th percentile by the nearest rank, in microseconds; 0 before the first write. Of fewer than 100
    /// writes it is the slowest.
    /// </summary>
    public long Percentile99()
    {
        int count = (int)Math.Min(Volatile.Read(ref _count), Capacity);
        if (count == 0)
        {
            return 0;
        }

        Span<long> sorted = stackalloc long[Capacity];
        _microseconds.AsSpan(0, count).CopyTo(sorted);
        sorted = sorted[..count];
        sorted.Sort();
        return sorted[((count * 99) + 99) / 100 - 1];
    }
}
