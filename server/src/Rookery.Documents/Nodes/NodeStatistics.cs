using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>Figures of a running node.</summary>
public sealed record NodeStatistics
{
    /// <summary>Index of the last entry in the journal.</summary>
    public long JournalLastIndex { get; init; }

    /// <summary>Index of the first entry that the journal retains.</summary>
    public long JournalFirstIndex { get; init; }

    /// <summary>Bytes of journal segments that are not released.</summary>
    public long JournalBytes { get; init; }

    /// <summary>Index of the last applied entry.</summary>
    public long AppliedIndex { get; init; }

    /// <summary>Index through which storage is durable without the journal.</summary>
    public long ManifestIndex { get; init; }

    /// <summary>The newest etag.</summary>
    public long Sequence { get; init; }

    /// <summary>Number of commands that wait or are in flight.</summary>
    public long QueuedCommands { get; init; }

    /// <summary>Bytes of the commands that wait or are in flight.</summary>
    public long QueuedBytes { get; init; }

    /// <summary>Entries committed since the start.</summary>
    public long Frames { get; init; }

    /// <summary>Commands committed since the start.</summary>
    public long Commands { get; init; }

    /// <summary>
    /// Commands that were not admitted because too many bytes were in flight, including callers that cancelled.
    /// </summary>
    public long Overloaded { get; init; }

    /// <summary>A sentence about each content of an attachment that is missing or cannot be read.</summary>
    public IReadOnlyList<string> ContentDamage { get; init; } = [];

    /// <summary>Number of damaged places of the tables and of contents that cannot be read.</summary>
    public int DamagedPlaces => Storage.Damage.Count + ContentDamage.Count;

    /// <summary>Findings of journal recovery, in one sentence.</summary>
    public string Recovery { get; init; } = string.Empty;

    /// <summary>
    /// Free space on the data's file system, and the reserve below which writes that grow the data are refused.
    /// </summary>
    public required ReserveState Space { get; init; }

    /// <summary>
    /// Free space on the file system of a journal with its own directory; null if the journal is in the data directory.
    /// </summary>
    public JournalSpace? JournalSpace { get; init; }

    /// <summary>Figures of consensus; null on a node opened only to read damaged data.</summary>
    public ConsensusStatistics? Consensus { get; init; }

    /// <summary>State transfers to lagging members and from other members.</summary>
    public required StateTransferStatistics Transfers { get; init; }

    /// <summary>Figures of the storage engine.</summary>
    public required StorageStatistics Storage { get; init; }
}
