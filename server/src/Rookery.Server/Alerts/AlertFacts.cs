using Rookery.Board;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Server.Alerts;

/// <summary>
/// The state of this node at one moment, and of the cluster as this node knows it. Alerts are evaluated from these
/// facts. A property that is null is unknown and raises no alert.
/// </summary>
public sealed record AlertFacts
{
    /// <summary>The cluster's time if it is known, otherwise the time of this machine.</summary>
    public required DateTimeOffset Now { get; init; }

    /// <summary>How long this process has run.</summary>
    public TimeSpan Uptime { get; init; }

    /// <summary>Why documents are not served; null if they are served.</summary>
    public string? NotServing { get; init; }

    /// <summary>State of the node in its cluster; null if it is not known.</summary>
    public ConsensusStatistics? Cluster { get; init; }

    /// <summary>Free bytes and reserve of the file system of the data.</summary>
    public ReserveState? Space { get; init; }

    /// <summary>
    /// Free bytes and reserve of the file system of the journal, and its directory; null if the journal is with the
    /// data.
    /// </summary>
    public JournalSpace? JournalSpace { get; init; }

    /// <summary>Number of places of the tables whose checksum does not match.</summary>
    public int DamagedPlaces { get; init; }

    /// <summary>Number of stored files of attachments that are missing or cannot be read.</summary>
    public int UnreadableContents { get; init; }

    /// <summary>Why flushes or merges fail, in one sentence; null if they succeed.</summary>
    public string? StorageTrouble { get; init; }

    /// <summary>The board's last reading; null without a board.</summary>
    public BoardReading? Board { get; init; }

    /// <summary>Storage devices of data and journal.</summary>
    public IReadOnlyList<StorageReading> Devices { get; init; } = [];

    /// <summary>
    /// 99th percentile of the recent journal syncs in microseconds; null if there was none in the last ten minutes.
    /// </summary>
    public long? SyncMicroseconds { get; init; }

    /// <summary>Expiry of the certificate for clients; null without one.</summary>
    public DateTimeOffset? CertificateEnds { get; init; }

    /// <summary>Reports of other programs on this machine.</summary>
    public MachineNotes Notes { get; init; } = MachineNotes.None;

    /// <summary>Indexes with trouble, each as "database/index: why".</summary>
    public IReadOnlyList<string> IndexTroubles { get; init; } = [];

    /// <summary>What went wrong for Redis clients; null if the node serves none.</summary>
    public RedisFacts? Redis { get; init; }

    /// <summary>Whether this is the only node with the documents.</summary>
    public bool IsAlone => Cluster is null or { Members.Count: <= 1 };

    /// <summary>Whether this node is leader.</summary>
    public bool IsLeader => Cluster is { } cluster && ClusterMargin.IsLeader(cluster);

    /// <summary>
    /// Whether the node takes no part in consensus: the cluster refused or removed it, or it has halted.
    /// </summary>
    public bool TakesNoPart =>
        Cluster is { } cluster && string.Equals(cluster.Role, ConsensusStatistics.NoRole, StringComparison.Ordinal);
}
