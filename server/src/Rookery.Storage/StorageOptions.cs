namespace Rookery.Storage;

/// <summary>
/// How an engine is opened. Sizes are parameters so that simulation flushes and compacts in every run.
/// </summary>
public sealed record StorageOptions
{
    /// <summary>The directory that holds the manifest slots and the run files; made when it is missing.</summary>
    public required string Directory { get; init; }

    /// <summary>The tables. Numbers and groups are part of the format: they never change meaning.</summary>
    public required IReadOnlyList<TableDefinition> Tables { get; init; }

    /// <summary>
    /// Bytes after which the memtable is frozen and flushed; 0 derives it from the memory budget (an eighth, 1 to 64
    /// MiB). Up to two are in memory.
    /// </summary>
    public long MemtableBytes { get; init; }

    /// <summary>Memory for blocks of runs, in bytes; 0 derives it from the memory budget (three eighths).</summary>
    public long CacheBytes { get; init; }

    /// <summary>Bytes of rows in a block before compression.</summary>
    public int BlockBytes { get; init; } = 16 * 1024;

    /// <summary>Bytes after which an output file of a flush or compaction is ended and the next begun.</summary>
    public long RunBytes { get; init; } = 64L * 1024 * 1024;

    /// <summary>Bytes of one chunk of a large value. A value longer than this is large.</summary>
    public int ChunkBytes { get; init; } = 64 * 1024;

    /// <summary>
    /// How many sorted runs of one size tier are merged into one. See docs/explanation/storage.md for why 8.
    /// </summary>
    public int FanIn { get; init; } = 8;

    /// <summary>
    /// How many deletions of each group stay in runs although nothing that they hide is left here, so that a store that
    /// is behind can be given what changed (<see cref="StorageEngine.BeginChanges"/>); an eighth of the group's rows
    /// when that is more. 0 keeps none.
    /// </summary>
    public long KeptDeletions { get; init; }

    /// <summary>
    /// Bytes of memtables that readers may keep after they were flushed; 0 derives it from <see cref="MemtableBytes"/>
    /// (two of them).
    /// </summary>
    public long ReaderMemoryBytes { get; init; }

    /// <summary>
    /// Bytes of runs that readers may keep after merges took their place, and never more than a quarter of what is free
    /// on the disk.
    /// </summary>
    public long ReaderFileBytes { get; init; } = 4L * 1024 * 1024 * 1024;

    /// <summary>Says which rows compaction may drop; null keeps all.</summary>
    public ICompactionFilter? Filter { get; init; }

    /// <summary>Slows background work down; null lets it run free.</summary>
    public IBackgroundPacer? Pacer { get; init; }

    /// <summary>
    /// Whether a store was kept here before: a directory without a manifest that can be read has lost it then, and is
    /// not new.
    /// </summary>
    public bool WasBegun { get; init; }

    /// <summary>Opens a directory to read only: nothing is written or deleted, and no lock is taken.</summary>
    public bool ReadOnly { get; init; }
}
