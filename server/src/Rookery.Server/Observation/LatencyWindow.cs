namespace Rookery.Server.Observation;

/// <summary>Durations of the requests between two readings of the counters, as counts by bucket.</summary>
/// <param name="now">Counts at the end.</param>
/// <param name="before">Counts at the beginning; empty for zero.</param>
internal readonly ref struct LatencyWindow(ReadOnlySpan<long> now, ReadOnlySpan<long> before)
{
    private const double MicrosecondsPerMillisecond = 1000;

    private readonly ReadOnlySpan<long> _now = now;
    private readonly ReadOnlySpan<long> _before = before;

    /// <summary>Number of requests.</summary>
    public long Count
    {
        get
        {
            long count = 0;
            for (int bucket = 0; bucket < _now.Length; bucket++)
            {
                count += CountIn(bucket);
            }

            return count;
        }
    }

    /// <summary>
    /// Returns a percentile for a fraction from 0 to 1; null without requests. Assumes an even distribution within a
    /// bucket.
    /// </summary>
    public double? Milliseconds(double fraction)
    {
        double rank = Count * fraction;
        if (rank <= 0)
        {
            return null;
        }

        var bounds = RouteMetrics.BucketBounds;
        double countBelow = 0;
        for (int bucket = 0; bucket < bounds.Length; bucket++)
        {
            long count = CountIn(bucket);
            if (count > 0 && countBelow + count >= rank)
            {
                double lower = bucket == 0 ? 0 : bounds[bucket - 1];
                return (lower + ((bounds[bucket] - lower) * (rank - countBelow) / count)) / MicrosecondsPerMillisecond;
            }

            countBelow += count;
        }

        // Slower than the last bound: the value is unknown, so return the bound.
        return bounds[^1] / MicrosecondsPerMillisecond;
    }

    private long CountIn(int bucket) => _now[bucket] - (_before.IsEmpty ? 0 : _before[bucket]);
}
