namespace Rookery.Journal;

/// <summary>Where the journal lies and how large its files are.</summary>
public sealed class JournalOptions
{
    /// <summary>
    /// The absolute path of a directory for the journal alone; made when it is not there. It may lie on a device of its
    /// own.
    /// </summary>
    public required string Directory { get; init; }

    /// <summary>Length of an ordinary segment in bytes: a multiple of 4,096, at least 8,192.</summary>
    public int SegmentBytes { get; init; } = 16 * 1024 * 1024;

    /// <summary>
    /// How many ready segments <see cref="NodeJournal.PrepareSpare"/> keeps ahead of the one being written.
    /// </summary>
    public int SpareSegments { get; init; } = 1;

    /// <summary>
    /// How many released segments are kept for reuse before further ones are deleted. Reuse saves the card a second
    /// zeroing.
    /// </summary>
    public int RecycledSegments { get; init; } = 8;

    /// <summary>The cluster a new journal belongs to; an existing journal keeps its own.</summary>
    public Guid ClusterId { get; init; }

    /// <summary>
    /// Names the store that the journal belongs to: a new journal keeps it, and one that names another is refused.
    /// Empty: a new journal draws one at random, any is opened.
    /// </summary>
    public Guid StoreId { get; init; }
}

/// <summary>What others know of journal writes whose sync had returned.</summary>
/// <param name="ManifestIndex">The index through which the manifest holds everything; 0 when there is no
/// manifest.</param>
/// <param name="ManifestTerm">The term at that index.</param>
/// <param name="HasPeers">Whether peers can give back frames that are damaged here.</param>
public readonly record struct JournalKnowledge(long ManifestIndex, long ManifestTerm, bool HasPeers)
{
    /// <summary>Operations through that index.</summary>
    public long ManifestOperations { get; init; }

    /// <summary>
    /// Whether a node kept a journal here before: a directory without a segment that can be read has lost it then, and
    /// is not new.
    /// </summary>
    public bool WasBegun { get; init; }

    /// <summary>
    /// Where the journal begins anew, unless it has: the manifest holds a state that was installed instead of what the
    /// journal says. Null when it holds none.
    /// </summary>
    public JournalRebase? Rebase { get; init; }
}

/// <summary>
/// Where a journal goes on that gave up everything it held, because the manifest holds a state that another node had
/// made.
/// </summary>
/// <param name="Mark">Names this one time, above 0 and never used again by the store: a journal that carries it in its
/// headers has begun anew.</param>
/// <param name="Position">The place behind which the journal goes on.</param>
/// <param name="ConfigurationIndex">The index of the configuration in force there; 0 when there is none.</param>
/// <param name="Configuration">The payload of that configuration as <see cref="Payload.Encode"/> made it, or
/// none.</param>
public readonly record struct JournalRebase(
    long Mark,
    JournalPosition Position,
    long ConfigurationIndex,
    ReadOnlyMemory<byte> Configuration
);

/// <summary>A place between two frames.</summary>
/// <param name="Index">The last index before it.</param>
/// <param name="Term">The term at that index.</param>
/// <param name="Operations">Operations (etags) through that index.</param>
public readonly record struct JournalPosition(long Index, long Term, long Operations);
