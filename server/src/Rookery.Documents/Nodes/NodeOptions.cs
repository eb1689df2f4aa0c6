using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>What a node needs to know to open its data.</summary>
public sealed record NodeOptions
{
    /// <summary>The data directory, absolute. Created when it does not exist.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>
    /// The journal's directory, absolute, possibly on another device; by default <c>journal</c> in the data directory.
    /// </summary>
    public string? JournalDirectory { get; init; }

    /// <summary>
    /// Whose data the directory becomes when none was begun in it: those that a node which joins a cluster was given.
    /// At random otherwise.
    /// </summary>
    public NodeIds? NewIds { get; init; }

    /// <summary>The node's tag in topologies and change vectors.</summary>
    public string NodeTag { get; init; } = "A";

    /// <summary>Bytes of one journal segment.</summary>
    public int SegmentBytes { get; init; } = 16 << 20;

    /// <summary>Bytes the memtable takes before it is flushed; 0 = a share of the memory budget.</summary>
    public long MemtableBytes { get; init; }

    /// <summary>Bytes of a finished run before the next is begun.</summary>
    public long RunBytes { get; init; } = 64 << 20;

    /// <summary>
    /// In a node with peers: how many deletions stay in the runs of each group of tables, though nothing is left that
    /// they hide, so that a member that fell behind gets what changed instead of everything; an eighth of the group's
    /// rows when that is more. They take about 20 bytes each, and a walk over 260,000 of them 40 ms on a desktop's
    /// core.
    /// </summary>
    public long KeptDeletions { get; init; } = 64 << 10;

    /// <summary>
    /// Bytes of commands that may be in flight; beyond them callers wait briefly and are then refused; 0 = an eighth of
    /// the memory budget, at least 8 MiB.
    /// </summary>
    public long InFlightBytes { get; init; }

    /// <summary>What stays free on the data's file system.</summary>
    public ReserveRule Reserve { get; init; } = ReserveRule.Default;

    /// <summary>
    /// Told in one sentence, once each, what the owner should know: damage, background work that fails, a journal that
    /// takes no more writes. From any thread; must return at once.
    /// </summary>
    public Action<string>? TroubleFound { get; init; }

    /// <summary>
    /// Set by who only reads (an export): where the journal's replay needs a document that is damaged, it goes on as if
    /// there were none, instead of refusing to open, and tells of each command that is left out for that; older rows
    /// take the place of damaged ones that each start reads; and all of the journal is replayed, where others would
    /// have to say how much of it is committed. Such a node takes no writes and keeps nothing of what it replayed.
    /// </summary>
    public Action<string>? CommandLeftOut { get; init; }

    /// <summary>
    /// Whether other members can give back what this node's disk lost: damage in the journal is repaired from them
    /// then, instead of refusing to open.
    /// </summary>
    public bool HasPeers { get; init; }

    /// <summary>
    /// The newest <see cref="FormatLevel"/> that the program knows: another one in tests only, where it stands for a
    /// newer program.
    /// </summary>
    public int NewestFormatLevel { get; init; } = FormatLevel.Newest;

    /// <summary>How often expired documents are looked for.</summary>
    public TimeSpan ExpirationInterval { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Opens a directory whose restore is not finished: for the restore itself.</summary>
    internal bool IsRestoring { get; init; }

    /// <summary>Replays around damage; see <see cref="CommandLeftOut"/>.</summary>
    internal bool ReplaysAroundDamage { get; init; }
}
