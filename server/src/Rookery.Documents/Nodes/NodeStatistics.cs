using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>Figures of a running node.</summary>
public sealed record NodeStatistics
{
    /// <summary>Index of the last frame in the journal.</summary>
    public long JournalLastIndex { get; init; }

    /// <summary>Index of the first frame the journal still holds.</summary>
    public long JournalFirstIndex { get; init; }

    /// <summary>Bytes of journal segments that are not released yet.</summary>
    public long JournalBytes { get; init; }

    /// <summary>Index of the last frame applied.</summary>
    public long AppliedIndex { get; init; }

    /// <summary>Index through which storage is durable without the journal.</summary>
    public long ManifestIndex { get; init; }

    /// <summary>The newest etag.</summary>
    public long Sequence { get; init; }

    /// <summary>Commands waiting or in flight.</summary>
    public long QueuedCommands { get; init; }

    /// <summary>Their bytes.</summary>
    public long QueuedBytes { get; init; }

    /// <summary>Frames committed since the start.</summary>
    public long Frames { get; init; }

    /// <summary>Commands committed since the start.</summary>
    public long Commands { get; init; }

    /// <summary>Commands refused because too much was in flight.</summary>
    public long Overloaded { get; init; }

    /// <summary>What recovery found in the journal, in one sentence.</summary>
    public string Recovery { get; init; } = string.Empty;

    /// <summary>
    /// Free bytes on the data's file system, and below how many writes that grow the data are refused.
    /// </summary>
    public required ReserveState Space { get; init; }

    /// <summary>How the node stands in its cluster; null when it was opened to read damaged data only.</summary>
    public ConsensusStatistics? Consensus { get; init; }

    /// <summary>What went to members that fell behind, and came from others.</summary>
    public required StateTransferStatistics Transfers { get; init; }

    /// <summary>Figures of the storage engine.</summary>
    public required StorageStatistics Storage { get; init; }
}
