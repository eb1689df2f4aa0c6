using Rookery.Board;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Server.Alerts;

/// <summary>Reads the facts by which a node's alerts are judged. Not thread-safe.</summary>
/// <param name="context">The node.</param>
internal sealed class FactsReader(ServerContext context)
{
    private static readonly TimeSpan RecentSync = TimeSpan.FromMinutes(10);

    private readonly long _startedAt = context.Time.GetTimestamp();
    private readonly RecentCount _redisUnknown = new(context.Time);
    private readonly RecentCount _redisRefused = new(context.Time);
    private readonly RecentCount _redisSlow = new(context.Time);
    private IReadOnlyList<StorageReading> _devices = [];
    private long _syncs;
    private long? _syncSeenAt;

    /// <summary>Reads the facts; null while the node stops.</summary>
    public AlertFacts? Read()
    {
        var readiness = context.Readiness;
        if (readiness.IsOpeningOrStopping && readiness.Node is not null)
        {
            return null; // the node is stopping
        }

        var node = readiness.Node;
        var statistics = node?.ReadStatistics();
        var isHealthy = node is { Diagnosis: null };
        return new AlertFacts
        {
            Now = statistics?.Consensus?.Clock.Time.Known ?? context.Time.GetUtcNow(),
            Uptime = context.Time.GetElapsedTime(_startedAt),
            NotServing = readiness.Reason ?? statistics?.Consensus?.Unready,
            Cluster = isHealthy ? statistics?.Consensus : null,
            Space = statistics?.Space,
            JournalSpace = statistics?.JournalSpace,
            DamagedPlaces = statistics?.Storage.Damage.Count ?? 0,
            UnreadableContents = statistics?.ContentDamage.Count ?? 0,
            StorageTrouble = statistics?.Storage.Health,
            Board = context.Options.Board?.Reading,
            Devices = ReadDevices(),
            SyncMicroseconds = ReadSync(),
            CertificateEnds = context.Options.Identity?.Invoke()?.Certificate.NotAfter.ToUniversalTime() is { } ends
                ? new DateTimeOffset(ends)
                : null,
            Notes = context.Options.MachineNotes?.Invoke() ?? MachineNotes.None,
            IndexTroubles = isHealthy ? ReadIndexes(node!) : [],
            Redis = ReadRedis(),
        };
    }

    // While a driver hangs, the last readings count: an alert about a worn card must not end because of it.
    private IReadOnlyList<StorageReading> ReadDevices()
    {
        var readings = context.BoardReader.Read();
        return _devices = readings.AreKnown ? readings.Devices : _devices;
    }

    /// <summary>
    /// Returns the 99th percentile of journal syncs in microseconds; null if there was no recent sync.
    /// </summary>
    private long? ReadSync()
    {
        long syncs = context.Io.TotalOf(IoKind.JournalSync).Count;
        if (syncs != _syncs)
        {
            _syncs = syncs;
            _syncSeenAt = context.Time.GetTimestamp();
        }

        return _syncSeenAt is { } seenAt && context.Time.GetElapsedTime(seenAt) < RecentSync
            ? context.Io.PercentileMicroseconds(IoKind.JournalSync, 0.99)
            : null;
    }

    private RedisFacts? ReadRedis() =>
        context.ReadRedis() is { } state
            ? new RedisFacts(
                _redisUnknown.Add(state.UnknownOutcomes),
                _redisRefused.Add(state.Refused),
                _redisSlow.Add(state.SlowClients),
                state.MaxClients
            )
            : null;

    private List<string> ReadIndexes(Node node)
    {
        var troubles = new List<string>();
        foreach (var database in node.Databases.All)
        {
            foreach (var index in context.Indexes.ReadStatus(database))
            {
                if (index.Trouble is { } trouble)
                {
                    troubles.Add(
                        $"{database.Name}/{index.Name}{(index.IsReplacement ? " (changed definition)" : "")}: {trouble}"
                    );
                }
            }
        }

        return troubles;
    }
}
