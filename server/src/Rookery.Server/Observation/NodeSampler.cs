using Rookery.Board;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Server.Operations;
using Rookery.Storage;

namespace Rookery.Server.Observation;

/// <summary>
/// Takes samples of this node: one every ten seconds for the history, and one a second while a browser shows the
/// dashboard. Thread-safe. Reads board, disk and tables without a lock, so a read that hangs blocks no other caller.
/// </summary>
internal sealed class NodeSampler(ServerContext context)
{
    /// <summary>Age up to which a sample for display is reused.</summary>
    public static readonly TimeSpan Freshness = TimeSpan.FromMilliseconds(900);

    // Rates over a shorter time fluctuate.
    private static readonly TimeSpan MinWindow = TimeSpan.FromMilliseconds(800);

    private const double MicrosecondsPerMillisecond = 1000;

    private readonly Lock _gate = new();
    private readonly long _started = context.Time.GetTimestamp();
    private Counts? _latestKept;
    private Counts? _previousKept;
    private Counts? _shownCounts;
    private NodeSample? _lastShown;
    private bool _isTaking;
    private long? _documents;

    /// <summary>
    /// Takes a sample for the history, with rates since the previous such sample. Calls must not overlap.
    /// </summary>
    public NodeSample TakeToKeep()
    {
        long? documents = CountDocuments();
        Counts? since;
        lock (_gate)
        {
            _documents = documents;
            since = _latestKept;
        }

        var (sample, counts) = TakeSample(since, documents);
        lock (_gate)
        {
            (_previousKept, _latestKept) = (_latestKept, counts);
        }

        return sample;
    }

    /// <summary>
    /// Takes a sample for display, with rates over about the last second. Returns the previous sample if it is younger
    /// than <see cref="Freshness"/>, or while another sample is being taken.
    /// </summary>
    public NodeSample TakeToShow()
    {
        Counts? since;
        long? documents;
        lock (_gate)
        {
            if (
                _lastShown is not null
                && (_isTaking || context.Time.GetElapsedTime(_shownCounts!.Timestamp) < Freshness)
            )
            {
                return _lastShown;
            }

            _isTaking = true;
            since = ChooseEarlierCounts();
            documents = _documents;
        }

        try
        {
            documents ??= CountDocuments();
            var (sample, counts) = TakeSample(since, documents);
            lock (_gate)
            {
                _documents ??= documents;
                (_lastShown, _shownCounts) = (sample, counts);
            }

            return sample;
        }
        finally
        {
            lock (_gate)
            {
                _isTaking = false;
            }
        }
    }

    /// <summary>
    /// Returns the newest counters that are old enough to compute rates. If no browser shows the dashboard, they are
    /// from the last sample for the history.
    /// </summary>
    private Counts? ChooseEarlierCounts()
    {
        var latest = new[] { _latestKept, _previousKept, _shownCounts }
            .OfType<Counts>()
            .OrderByDescending(static counts => counts.Timestamp)
            .ToList();
        return latest.Find(counts => context.Time.GetElapsedTime(counts.Timestamp) >= MinWindow)
            ?? latest.LastOrDefault();
    }

    private (NodeSample Sample, Counts Counts) TakeSample(Counts? since, long? documents)
    {
        var watch = context.Options.Board;
        var reading = watch?.Reading ?? default;
        var (devices, use) = context.BoardReader.Read();
        var counts = Counts.Of(context, use, SumOf(devices, static device => device.WrittenBytes));
        var statistics = context.Readiness.Node?.ReadStatistics();
        var notes = context.Options.MachineNotes?.Invoke();
        var sample = new NodeSample(context.KnownTime.ToUnixTimeMilliseconds())
        {
            ImageRelease = notes?.ImageRelease,
            Reason = context.Readiness.Reason ?? statistics?.Consensus?.Unready,
            Model = watch?.Board.Model,
            IsSimulated = watch?.Board.IsSimulated ?? false,
            KnownFlags = reading.KnownFlags,
            ThrottledNow = reading.Now,
            ThrottledSinceBoot = reading.Now | reading.SinceBoot,
            IsClockSynchronised = statistics?.Consensus?.Clock.IsOwnSynchronised,
        };
        sample[Figure.ReadyRatio] = sample.Reason is null ? 1 : 0;
        sample[Figure.UptimeSeconds] = context.Time.GetElapsedTime(_started).TotalSeconds;
        sample[Figure.ResidentBytes] = Environment.WorkingSet;
        sample[Figure.MemoryBudgetBytes] = context.Memory.TotalBytes;
        FillBoard(sample, reading, use, counts, devices);
        FillDisk(sample);
        if (since is not null)
        {
            counts.Fill(sample, since, context.Time);
        }

        sample[Figure.CertificateDaysLeft] = CertificateHealth.DaysLeft(context);
        sample[Figure.BackupAgeSeconds] = notes?.LastBackup is { } backup
            ? (context.Time.GetUtcNow() - backup).TotalSeconds
            : null;
        if (statistics is not null)
        {
            sample[Figure.Documents] = documents;
            FillNode(sample, statistics);
        }

        return (sample, counts);
    }

    private void FillBoard(
        NodeSample sample,
        in BoardReading reading,
        in MachineUse use,
        Counts counts,
        IReadOnlyList<StorageReading> devices
    )
    {
        sample[Figure.TemperatureCelsius] = reading.TemperatureCelsius;
        sample[Figure.UnderVoltageRatio] =
            (reading.KnownFlags & Throttling.UnderVoltage) == Throttling.None ? null
            : reading.Is(Throttling.UnderVoltage) ? 1
            : 0;
        const Throttling Slowed = Throttling.Throttled | Throttling.FrequencyCapped;
        sample[Figure.ThrottledRatio] =
            (reading.KnownFlags & Slowed) == Throttling.None ? null
            : reading.Is(Slowed) ? 1
            : 0;
        sample[Figure.MachineMemoryBytes] = use.MemoryBytes;
        sample[Figure.MachineMemoryUsedBytes] = use.MemoryBytes - use.AvailableBytes;
        sample[Figure.DeviceWrittenBytes] = counts.WrittenBytes;
        double? used = devices.Max(static device => device.LifeUsed);
        sample[Figure.LifeUsedRatio] = used;
        sample[Figure.LifeLeftDays] = devices.Min(device => CardLife.DaysLeftOf(device, context.Time.GetUtcNow()));
    }

    // Samples for the history and for display both cover the last ten seconds, so that a chart and the present value
    // agree.
    private void FillDisk(NodeSample sample)
    {
        long now = (context.Time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        long since = now - (SampleHistory.Span.Ticks / TimeSpan.TicksPerMicrosecond);
        long[] durations =
        [
            .. context
                .Io.EventsSince(since)
                // After the clock was set back, some events have times in the future.
                .Where(ioEvent => ioEvent.Kind == IoKind.JournalSync && ioEvent.EndUnixMicroseconds <= now)
                .Select(static ioEvent => ioEvent.DurationMicroseconds)
                .Order(),
        ];
        sample[Figure.SyncP50Milliseconds] = Percentile(durations, 0.5);
        sample[Figure.SyncP99Milliseconds] = Percentile(durations, 0.99);
    }

    /// <summary>Returns a percentile of ascending durations, in milliseconds; null without durations.</summary>
    internal static double? Percentile(long[] ordered, double fraction) =>
        ordered.Length == 0
            ? null
            : ordered[(int)Math.Ceiling(ordered.Length * fraction) - 1] / MicrosecondsPerMillisecond;

    private void FillNode(NodeSample sample, NodeStatistics statistics)
    {
        var node = context.Node;
        sample[Figure.BackgroundShareRatio] = node.BackgroundShare;
        sample[Figure.DiskFreeBytes] = statistics.Space.FreeBytes;
        sample[Figure.DiskSizeBytes] = statistics.Space.TotalBytes > 0 ? statistics.Space.TotalBytes : null;
        sample[Figure.DiskReserveBytes] = statistics.Space.NeededBytes;
        sample[Figure.AppliedIndex] = statistics.AppliedIndex;
        sample[Figure.LastIndex] = statistics.JournalLastIndex;
        sample[Figure.Sequence] = statistics.Sequence;
        sample[Figure.QueuedCommands] = statistics.QueuedCommands;
        if (statistics.Consensus is { } cluster)
        {
            sample[Figure.CommitIndex] = cluster.CommitIndex;
            sample[Figure.LastIndex] = cluster.LastIndex;
            sample[Figure.ClockAheadSeconds] = cluster.Clock.Time.UtcTicks == 0 ? null : cluster.Clock.OwnAheadSeconds;
        }

        if (context.Readiness.Indexes is { } indexes)
        {
            long stale = 0,
                documentsLeft = 0,
                errors = 0;
            foreach (var index in node.Databases.All.SelectMany(indexes.ReadStatus))
            {
                stale += index.IsStale ? 1 : 0;
                documentsLeft += index.Progress.Total - index.Progress.Done;
                errors += index.ErrorCount;
            }

            sample[Figure.IndexesStale] = stale;
            sample[Figure.IndexDocumentsLeft] = documentsLeft;
            sample[Figure.IndexErrors] = errors;
        }
    }

    /// <summary>
    /// Counts the documents of all databases; null if they are not open, or their counts cannot be read.
    /// </summary>
    private long? CountDocuments()
    {
        if (context.Readiness is not { Reason: null, Node: { } node })
        {
            return null;
        }

        try
        {
            long count = 0;
            foreach (var database in node.Databases.All)
            {
                using var reader = database.OpenReader();
                count += reader.ReadStatistics().Documents;
            }

            return count;
        }
        catch (Exception failure) when (failure is DamagedException or IOException or ObjectDisposedException)
        {
            return null;
        }
    }

    private static long? SumOf(IReadOnlyList<StorageReading> devices, Func<StorageReading, long?> read)
    {
        long? sum = null;
        foreach (var device in devices)
        {
            if (read(device) is { } value)
            {
                sum = (sum ?? 0) + value;
            }
        }

        return sum;
    }
}
