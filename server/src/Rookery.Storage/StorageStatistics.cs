namespace Rookery.Storage;

/// <summary>Statistics of an engine: its state at one moment, and counters since it was opened.</summary>
public sealed record StorageStatistics
{
    /// <summary>The groups of tables that have runs.</summary>
    public required IReadOnlyList<GroupStatistics> Groups { get; init; }

    /// <summary>Bytes of the active memtable.</summary>
    public required long MemtableBytes { get; init; }

    /// <summary>Bytes of memtables that wait for their flush.</summary>
    public required long FrozenBytes { get; init; }

    /// <summary>Number of completed flushes.</summary>
    public required long Flushes { get; init; }

    /// <summary>Bytes that flushes wrote into runs.</summary>
    public required long FlushedBytes { get; init; }

    /// <summary>Number of merge steps that wrote a file.</summary>
    public required long Compactions { get; init; }

    /// <summary>Bytes that merges wrote into runs.</summary>
    public required long CompactedBytes { get; init; }

    /// <summary>
    /// Number of files that merges moved to their output without rewriting them, because no other input overlapped
    /// them.
    /// </summary>
    public required long LinkedFiles { get; init; }

    /// <summary>Bytes written into manifest slots.</summary>
    public required long ManifestBytes { get; init; }

    /// <summary>Number of flushes and merges that failed; they are retried.</summary>
    public required long Failures { get; init; }

    /// <summary>
    /// Time since the oldest state that a reader still uses was replaced; zero if readers use only the newest.
    /// </summary>
    public required TimeSpan OldestReaderAge { get; init; }

    /// <summary>Bytes of flushed memtables that readers of older states keep alive.</summary>
    public required long ReaderMemoryBytes { get; init; }

    /// <summary>Bytes of runs that only readers of older states keep alive.</summary>
    public required long ReaderFileBytes { get; init; }

    /// <summary>
    /// Number of states whose clients' readers were ended, because they kept too much memory or too many files alive.
    /// </summary>
    public required long EndedReads { get; init; }

    /// <summary>Bytes of runs that the running and due merges still have to read.</summary>
    public required long PendingCompactionBytes { get; init; }

    /// <summary>Number of range tombstones that may cover rows.</summary>
    public required int RangeTombstones { get; init; }

    /// <summary>The known damage.</summary>
    public required IReadOnlyList<DamageEvent> Damage { get; init; }

    /// <summary>The current problem, in one sentence (a failing flush, damage); null if there is none.</summary>
    public required string? Health { get; init; }
}

/// <summary>The runs of one group of tables.</summary>
/// <param name="Group">Number of the group.</param>
/// <param name="Tables">Names of its tables.</param>
/// <param name="SortedRuns">Number of sorted runs, which is the maximum number of runs that a lookup searches.</param>
/// <param name="Files">Number of files.</param>
/// <param name="Bytes">Bytes on disk.</param>
/// <param name="Rows">Number of rows, including tombstones.</param>
public sealed record GroupStatistics(byte Group, string Tables, int SortedRuns, int Files, long Bytes, long Rows);
