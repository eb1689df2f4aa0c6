namespace Rookery.Storage;

/// <summary>What the engine holds and did since it was opened. A copy, taken at one moment.</summary>
public sealed record StorageStatistics
{
    /// <summary>Groups of tables that have runs.</summary>
    public required IReadOnlyList<GroupStatistics> Groups { get; init; }

    /// <summary>Bytes of the active memtable.</summary>
    public required long MemtableBytes { get; init; }

    /// <summary>Bytes of memtables that wait for their flush.</summary>
    public required long FrozenBytes { get; init; }

    /// <summary>Flushes that finished.</summary>
    public required long Flushes { get; init; }

    /// <summary>Bytes that flushes wrote into runs.</summary>
    public required long FlushedBytes { get; init; }

    /// <summary>Compaction steps that wrote a file.</summary>
    public required long Compactions { get; init; }

    /// <summary>Bytes that compaction wrote into runs.</summary>
    public required long CompactedBytes { get; init; }

    /// <summary>Files that compaction kept as they were, because nothing overlapped them.</summary>
    public required long LinkedFiles { get; init; }

    /// <summary>Bytes written into manifest slots.</summary>
    public required long ManifestBytes { get; init; }

    /// <summary>Flushes and compactions that failed and will be tried again.</summary>
    public required long Failures { get; init; }

    /// <summary>
    /// How long ago the oldest state that a reader still holds was replaced; zero when readers hold only the newest.
    /// </summary>
    public required TimeSpan OldestReaderAge { get; init; }

    /// <summary>Bytes of flushed memtables that readers of older states keep in memory.</summary>
    public required long ReaderMemoryBytes { get; init; }

    /// <summary>Bytes of runs on disk that only readers of older states keep.</summary>
    public required long ReaderFileBytes { get; init; }

    /// <summary>States whose readers were ended, because they kept too much.</summary>
    public required long EndedReads { get; init; }

    /// <summary>Bytes of runs that the next compactions would read.</summary>
    public required long PendingCompactionBytes { get; init; }

    /// <summary>Range tombstones that still cover rows.</summary>
    public required int RangeTombstones { get; init; }

    /// <summary>Damaged places that are known.</summary>
    public required IReadOnlyList<DamageEvent> Damage { get; init; }

    /// <summary>What is wrong, in one sentence (a flush that fails, damage); null when nothing is.</summary>
    public required string? Health { get; init; }
}

/// <summary>The runs of one group of tables.</summary>
/// <param name="Group">The group's number.</param>
/// <param name="Tables">Its tables, by name.</param>
/// <param name="SortedRuns">How many sorted runs a read may have to ask.</param>
/// <param name="Files">How many files they are.</param>
/// <param name="Bytes">Their bytes on disk.</param>
/// <param name="Rows">Their rows, tombstones included.</param>
public sealed record GroupStatistics(byte Group, string Tables, int SortedRuns, int Files, long Bytes, long Rows);
