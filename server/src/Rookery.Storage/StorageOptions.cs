namespace Rookery.Storage;

/// <summary>
/// Options of a storage engine. All sizes can be set, so that simulations with little data also flush and merge.
/// </summary>
public sealed record StorageOptions
{
    /// <summary>Directory of the manifest slots and run files; created if it is missing.</summary>
    public required string Directory { get; init; }

    /// <summary>The tables. Their numbers and groups are part of the format and never change meaning.</summary>
    public required IReadOnlyList<TableDefinition> Tables { get; init; }

    /// <summary>
    /// Size at which the memtable is frozen and flushed, in bytes; 0 means an eighth of the memory budget, 1 to 64 MiB.
    /// Writers fill up to two at a time; readers and failed flushes can keep more of them in memory.
    /// </summary>
    public long MemtableBytes { get; init; }

    /// <summary>Memory for blocks of runs, in bytes; 0 means three eighths of the memory budget.</summary>
    public long CacheBytes { get; init; }

    /// <summary>Target size of a block before compression, in bytes.</summary>
    public int BlockBytes { get; init; } = 16 * 1024;

    /// <summary>Maximum size of an output file of a flush or merge, in bytes; larger outputs are split.</summary>
    public long RunBytes { get; init; } = 64L * 1024 * 1024;

    /// <summary>
    /// Maximum length of a value in one row, in bytes. A longer value is large: it is stored in chunks of this length.
    /// </summary>
    public int ChunkBytes { get; init; } = 64 * 1024;

    /// <summary>
    /// Number of sorted runs of one size tier that are merged into one. docs/explanation/storage.md explains why 8.
    /// </summary>
    public int FanIn { get; init; } = 8;

    /// <summary>
    /// The runs of each group retain about this many of the newest tombstones that hide no rows, or an eighth of the
    /// group's rows if this number is higher. From them a lagging store can receive the changes instead of a full
    /// snapshot (<see cref="StorageEngine.BeginChanges"/>). 0 retains none.
    /// </summary>
    public long RetainedTombstones { get; init; }

    /// <summary>
    /// Maximum bytes of flushed memtables that readers may keep alive; 0 means three times <see cref="MemtableBytes"/>.
    /// </summary>
    public long ReaderMemoryBytes { get; init; }

    /// <summary>
    /// Maximum bytes of runs replaced by merges that readers may keep alive, but never more than a quarter of the free
    /// disk space.
    /// </summary>
    public long ReaderFileBytes { get; init; } = 4L * 1024 * 1024 * 1024;

    /// <summary>Decides which rows merges may drop; null keeps all.</summary>
    public IMergeFilter? Filter { get; init; }

    /// <summary>Slows background work down; null does not limit it.</summary>
    public IBackgroundPacer? Pacer { get; init; }

    /// <summary>
    /// Whether the directory contained a store before. If it did, opening fails without a readable manifest, instead of
    /// creating a new store.
    /// </summary>
    public bool ExistedBefore { get; init; }

    /// <summary>
    /// Whether the directory is opened for reading only: nothing is written or deleted, and no lock is taken.
    /// </summary>
    public bool IsReadOnly { get; init; }
}
