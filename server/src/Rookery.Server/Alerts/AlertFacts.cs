using Rookery.Board;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Server.Alerts;

/// <summary>
/// What alerts are judged by: this node, and of the cluster what it sees, at one moment. What is not known is null, and
/// nothing follows from it.
/// </summary>
public sealed record AlertFacts
{
    /// <summary>The time: the cluster's where it is known, this machine's otherwise.</summary>
    public required DateTimeOffset Now { get; init; }

    /// <summary>How long this process runs.</summary>
    public TimeSpan Uptime { get; init; }

    /// <summary>Why documents are not served; null when they are.</summary>
    public string? NotServing { get; init; }

    /// <summary>How the node stands in its cluster.</summary>
    public ConsensusStatistics? Cluster { get; init; }

    /// <summary>Free bytes and the reserve of the data's file system.</summary>
    public ReserveState? Space { get; init; }

    /// <summary>Places on disk whose checksum does not match.</summary>
    public int DamagedPlaces { get; init; }

    /// <summary>What is wrong with flushes and compactions, in a sentence; null when nothing is.</summary>
    public string? StorageTrouble { get; init; }

    /// <summary>The board's last reading.</summary>
    public BoardReading? Board { get; init; }

    /// <summary>The devices below data and journal.</summary>
    public IReadOnlyList<StorageReading> Devices { get; init; } = [];

    /// <summary>
    /// What 99 % of the recent syncs of the journal did not exceed; null where none ended in the last ten minutes.
    /// </summary>
    public long? SyncMicroseconds { get; init; }

    /// <summary>When the certificate that clients are shown ends.</summary>
    public DateTimeOffset? CertificateEnds { get; init; }

    /// <summary>What others noted on this machine.</summary>
    public MachineNotes Notes { get; init; } = MachineNotes.None;

    /// <summary>Indexes that cannot go on, each as "database/index: why".</summary>
    public IReadOnlyList<string> IndexTroubles { get; init; } = [];

    /// <summary>Whether no other node has the documents too.</summary>
    public bool IsAlone => Cluster is null or { Members.Count: <= 1 };

    /// <summary>Whether this node leads its cluster.</summary>
    public bool IsLeader => Cluster is { } cluster && ClusterMargin.Leads(cluster);

    /// <summary>Whether the node was refused, removed or halted.</summary>
    public bool TakesNoPart =>
        Cluster is { } cluster && string.Equals(cluster.Role, ConsensusStatistics.NoRole, StringComparison.Ordinal);
}
