namespace Rookery.Journal;

/// <summary>Location and file sizes of the journal.</summary>
public sealed class JournalOptions
{
    /// <summary>
    /// Absolute path of a directory used by the journal alone, possibly on its own device. Created if it is missing.
    /// </summary>
    public required string Directory { get; init; }

    /// <summary>Length of an ordinary segment in bytes: a multiple of 4,096, at least 8,192.</summary>
    public int SegmentBytes { get; init; } = 16 * 1024 * 1024;

    /// <summary>Number of prepared segments that <see cref="NodeJournal.PrepareSpare"/> maintains.</summary>
    public int SpareSegments { get; init; } = 1;

    /// <summary>
    /// Maximum number of released segments kept for reuse; more are deleted. Reuse saves writing zeros to a new file.
    /// </summary>
    public int RecycledSegments { get; init; } = 8;

    /// <summary>Id of the cluster that a new journal belongs to; an existing journal keeps its own.</summary>
    public Guid ClusterId { get; init; }

    /// <summary>
    /// Id of the store that the journal belongs to. A journal of another store is refused. Empty: a new journal gets a
    /// random id, and any existing journal is opened.
    /// </summary>
    public Guid StoreId { get; init; }
}

/// <summary>Facts from outside the journal that prove which entries were durable.</summary>
/// <param name="ManifestIndex">Index through which the storage is durable without the journal; 0 without a
/// manifest.</param>
/// <param name="ManifestTerm">Term at that index.</param>
/// <param name="HasPeers">Whether other members can resend damaged entries.</param>
public readonly record struct JournalKnowledge(long ManifestIndex, long ManifestTerm, bool HasPeers)
{
    /// <summary>Number of operations through that index.</summary>
    public long ManifestOperations { get; init; }

    /// <summary>
    /// Whether this node had a journal before. If so, a directory without a readable segment has lost the journal.
    /// </summary>
    public bool ExistedBefore { get; init; }

    /// <summary>
    /// A reset that may still have to be done: the manifest contains an installed snapshot, which replaces the
    /// journal's log. Null if there is none.
    /// </summary>
    public JournalReset? PendingReset { get; init; }
}

/// <summary>
/// A reset of the journal: its log is discarded and continues after a snapshot that was installed from another member.
/// </summary>
/// <param name="Mark">Number of this reset, above 0 and never reused by the store. If the newest segment's header
/// contains it, the reset is done.</param>
/// <param name="Position">Position after which the journal continues.</param>
/// <param name="ConfigurationIndex">Index of the configuration in force there; 0 if there is none.</param>
/// <param name="Configuration">Payload of that configuration, encoded by <see cref="Payload.Encode"/>, or none.</param>
public readonly record struct JournalReset(
    long Mark,
    JournalPosition Position,
    long ConfigurationIndex,
    ReadOnlyMemory<byte> Configuration
);

/// <summary>A position between two entries.</summary>
/// <param name="Index">The last index before it.</param>
/// <param name="Term">Term at that index.</param>
/// <param name="Operations">Number of operations (etags) through that index.</param>
public readonly record struct JournalPosition(long Index, long Term, long Operations);
