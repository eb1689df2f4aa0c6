namespace Rookery.Server.Observation;

/// <summary>How long requests took between two moments, by the buckets of their durations.</summary>
/// <param name="now">The counts at the end.</param>
/// <param name="before">The counts at the beginning.</param>
internal readonly ref struct LatencyWindow(ReadOnlySpan<long> now, ReadOnlySpan<long> before)
{
    private const double MicrosecondsPerMillisecond = 1000;

    private readonly ReadOnlySpan<long> _now = now;
    private readonly ReadOnlySpan<long> _before = before;

    /// <summary>How many there were.</summary>
    public long Count
    {
        get
        {
            long count = 0;
            for (int bucket = 0; bucket < _now.Length; bucket++)
            {
                count += In(bucket);
            }

            return count;
        }
    }

    /// <summary>
    /// What a part of them (0 to 1) did not exceed, between the bounds of its bucket as if they were spread evenly
    /// there; null when there were none.
    /// </summary>
    public double? Milliseconds(double fraction)
    {
        double rank = Count * fraction;
        if (rank <= 0)
        {
            return null;
        }

        var bounds = RouteMetrics.BucketBounds;
        double seen = 0;
        for (int bucket = 0; bucket < bounds.Length; bucket++)
        {
            long count = In(bucket);
            if (count > 0 && seen + count >= rank)
            {
                double lower = bucket == 0 ? 0 : bounds[bucket - 1];
                return (lower + ((bounds[bucket] - lower) * (rank - seen) / count)) / MicrosecondsPerMillisecond;
            }

            seen += count;
        }

        // Slower than the last bound: how much is not known.
        return bounds[^1] / MicrosecondsPerMillisecond;
    }

    private long In(int bucket) => _now[bucket] - (_before.IsEmpty ? 0 : _before[bucket]);
}
