using Rookery.Board;
using Rookery.Platform;

namespace Rookery.Server.Observation;

/// <summary>Counters of a node at one moment. Rates are computed from two of them.</summary>
internal sealed class Counts
{
    /// <summary>When the counters were read (<see cref="TimeProvider.GetTimestamp"/>).</summary>
    public required long Timestamp { get; init; }

    /// <summary>Use of the machine's processors.</summary>
    public required MachineUse Use { get; init; }

    /// <summary>Bytes written to the devices by all programs; null if unknown.</summary>
    public required long? WrittenBytes { get; init; }

    private TimeSpan Processor { get; init; }

    private long Requests { get; init; }

    private long[] Reads { get; init; } = [];

    private long[] Writes { get; init; } = [];

    private long Syncs { get; init; }

    private long JournalBytes { get; init; }

    /// <summary>Reads the counters.</summary>
    public static Counts Of(ServerContext context, MachineUse use, long? writtenBytes) =>
        new()
        {
            Timestamp = context.Time.GetTimestamp(),
            Use = use,
            WrittenBytes = writtenBytes,
            Processor = Environment.CpuUsage.TotalTime,
            Requests = context.Metrics.DocumentRequests,
            Reads = BucketsOf(context.Metrics.Reads),
            Writes = BucketsOf(context.Metrics.Writes),
            Syncs = context.Io.TotalOf(IoKind.JournalSync).Count,
            JournalBytes = context.Io.TotalOf(IoKind.JournalWrite).Bytes,
        };

    /// <summary>
    /// Sets the figures of a sample that cover a time: rates and percentiles, from the difference to earlier counters.
    /// </summary>
    public void Fill(NodeSample sample, Counts since, TimeProvider time)
    {
        double seconds = time.GetElapsedTime(since.Timestamp, Timestamp).TotalSeconds;
        if (seconds <= 0)
        {
            return;
        }

        sample[Figure.ProcessCpuCores] = (Processor - since.Processor).TotalSeconds / seconds;
        sample[Figure.MachineCpuRatio] =
            (Use.BusyTicks - since.Use.BusyTicks) / (double?)NotZero(Use.TotalTicks - since.Use.TotalTicks);
        sample[Figure.DeviceWrittenBytesPerSecond] = (WrittenBytes - since.WrittenBytes) / seconds;
        sample[Figure.RequestsPerSecond] = (Requests - since.Requests) / seconds;
        sample[Figure.SyncsPerSecond] = (Syncs - since.Syncs) / seconds;
        sample[Figure.JournalBytesPerSecond] = (JournalBytes - since.JournalBytes) / seconds;
        var reads = new LatencyWindow(Reads, since.Reads);
        sample[Figure.ReadsPerSecond] = reads.Count / seconds;
        sample[Figure.ReadP50Milliseconds] = reads.Milliseconds(0.5);
        sample[Figure.ReadP99Milliseconds] = reads.Milliseconds(0.99);
        var writes = new LatencyWindow(Writes, since.Writes);
        sample[Figure.WritesPerSecond] = writes.Count / seconds;
        sample[Figure.WriteP50Milliseconds] = writes.Milliseconds(0.5);
        sample[Figure.WriteP99Milliseconds] = writes.Milliseconds(0.99);
    }

    private static long? NotZero(long? value) => value is 0 ? null : value;

    private static long[] BucketsOf(RouteMetrics route)
    {
        long[] buckets = new long[RouteMetrics.BucketBounds.Length + 1];
        for (int bucket = 0; bucket < buckets.Length; bucket++)
        {
            buckets[bucket] = route.InBucket(bucket);
        }

        return buckets;
    }
}
