using Rookery.Documents.Apply;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>Settings to open a node's data.</summary>
public sealed record NodeOptions
{
    // Memtable size for a replay that skips damage: no flush may write the result of such a replay to a run. The whole
    // journal fits into the memtable, because BackgroundWork limits the journal's length by flushes.
    private const long NeverFull = 1L << 40;

    /// <summary>The data directory, an absolute path. Created if it is missing.</summary>
    public required string DataDirectory { get; init; }

    /// <summary>
    /// The journal's directory, an absolute path, possibly on another device. Null: <c>journal</c> in the data
    /// directory.
    /// </summary>
    public string? JournalDirectory { get; init; }

    /// <summary>
    /// Ids for a new data directory: those that a joining node was given. Null: random ids. Ignored if the directory is
    /// not new.
    /// </summary>
    public NodeIds? NewIds { get; init; }

    /// <summary>The node's tag in topologies and change vectors.</summary>
    public string NodeTag { get; init; } = "A";

    /// <summary>Size of a journal segment, in bytes.</summary>
    public int SegmentBytes { get; init; } = 16 << 20;

    /// <summary>Memtable size that triggers a flush, in bytes; 0 means a share of the memory budget.</summary>
    public long MemtableBytes { get; init; }

    /// <summary>Maximum size of a run, in bytes; larger outputs are split into several runs.</summary>
    public long RunBytes { get; init; } = 64 << 20;

    /// <summary>
    /// The approximate number of the newest deletions that each group of tables retains although they hide no rows, so
    /// that a lagging member can receive changes instead of all rows. Only with peers. An eighth of the group's rows is
    /// retained if this number is higher. Each deletion takes about 20 bytes. Walking over 260,000 takes 40 ms on a
    /// desktop core.
    /// </summary>
    public long RetainedTombstones { get; init; } = 64 << 10;

    /// <summary>
    /// Maximum bytes of commands in flight. Further callers wait briefly and are then refused. 0 means an eighth of the
    /// memory budget, at least 8 MiB.
    /// </summary>
    public long InFlightBytes { get; init; }

    /// <summary>The size limit of an attachment, in bytes.</summary>
    public long MaxAttachmentBytes { get; init; } = Attachments.AttachmentContents.DefaultMaxBytes;

    /// <summary>The reserve: space on the data's file system that must stay free.</summary>
    public ReserveRule Reserve { get; init; } = ReserveRule.Default;

    /// <summary>
    /// Receives one sentence for each problem that the owner should know: damage, failing background work, a journal
    /// that accepts no writes. Called once per problem, from any thread; must return immediately.
    /// </summary>
    public Action<string>? TroubleFound { get; init; }

    /// <summary>
    /// Set only for exports. Then opening skips damage, and this callback receives a message for each command that is
    /// left out. Replay treats a damaged document as missing. Older rows replace damaged ones that a start needs. The
    /// whole journal is replayed although its end may not be committed. Such a node accepts no writes and stores no
    /// result of the replay.
    /// </summary>
    public Action<string>? CommandLeftOut { get; init; }

    /// <summary>
    /// Whether other members can resend entries that this node's disk lost. Then damage in the journal is repaired from
    /// them; without peers it fails the start.
    /// </summary>
    public bool HasPeers { get; init; }

    /// <summary>
    /// The newest <see cref="FormatLevel"/> that the program knows. Only tests set it, to simulate a newer program.
    /// </summary>
    public int NewestFormatLevel { get; init; } = FormatLevel.Newest;

    /// <summary>Time between two searches for expired documents and old tombstones.</summary>
    public TimeSpan ExpirationInterval { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Whether the restore itself opens its unfinished directory.</summary>
    internal bool IsRestoring { get; init; }

    /// <summary>Whether replay skips damage; see <see cref="CommandLeftOut"/>.</summary>
    internal bool ReplaysAroundDamage { get; init; }

    /// <summary>Returns the storage engine's options for the node's tables in a directory.</summary>
    internal StorageOptions ToStorageOptions(string directory) =>
        new()
        {
            Directory = directory,
            Tables = Table.Definitions,
            MemtableBytes = ReplaysAroundDamage ? NeverFull : MemtableBytes,
            RunBytes = RunBytes,
            Filter = new StaleRowFilter(),
        };
}
