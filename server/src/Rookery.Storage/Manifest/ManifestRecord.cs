using Rookery.Storage.Install;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Manifest;

/// <summary>The content of a manifest: the durable state from which an engine opens.</summary>
internal sealed record ManifestRecord
{
    /// <summary>Rises with each write of a slot; the slot with the higher revision is in force.</summary>
    public required long Revision { get; init; }

    /// <summary>The highest feature level whose formats the directory may contain.</summary>
    public required int FeatureLevel { get; init; }

    /// <summary>Position of the last batch in the runs.</summary>
    public required ManifestPosition Position { get; init; }

    /// <summary>The lowest unused file number.</summary>
    public required long NextFileId { get; init; }

    /// <summary>The sorted runs of each group, newest first, each as files in key order.</summary>
    public required IReadOnlyList<ManifestGroup> Groups { get; init; }

    /// <summary>Range tombstones that may cover rows of runs.</summary>
    public required IReadOnlyList<RangeTombstone> RangeTombstones { get; init; }

    /// <summary>
    /// Range tombstones that hide nothing in this store, kept for stores that lag and request the changes.
    /// </summary>
    public required IReadOnlyList<RangeTombstone> PastRangeTombstones { get; init; }

    /// <summary>
    /// The highest sequence of a dropped tombstone. A manifest of a program that did not record it is treated as if all
    /// tombstones were dropped.
    /// </summary>
    public required long DroppedThrough { get; init; }

    /// <summary>
    /// Null for a full state. Otherwise the manifest contains only rows and deleted ranges from this sequence on.
    /// </summary>
    public long? Since { get; init; }

    /// <summary>
    /// Random id of the store. Empty in a copy made by hard links, which becomes a store of its own when it is first
    /// opened for writing.
    /// </summary>
    public required Guid StoreId { get; init; }

    /// <summary>Set while an installed snapshot waits for the reset of the journal; otherwise null.</summary>
    public InstallMark? Pending { get; init; }

    /// <summary>
    /// All files, one sorted run after the other. A file that a running merge moves unchanged may occur twice.
    /// </summary>
    public IEnumerable<ManifestFile> Files => Groups.SelectMany(group => group.SortedRuns).SelectMany(run => run);

    /// <summary>
    /// Returns the first group whose rows belong to no table of this program, because a newer one wrote them; null if
    /// there is none.
    /// </summary>
    public byte? FindUnknownGroup(TableMap tables) =>
        Groups
            .Where(group => !tables.Groups.Contains(group.Group))
            .Select(static group => (byte?)group.Group)
            .FirstOrDefault();
}

/// <summary>The sorted runs of one group.</summary>
/// <param name="Group">Number of the group.</param>
/// <param name="SortedRuns">The runs, newest first.</param>
internal sealed record ManifestGroup(byte Group, IReadOnlyList<IReadOnlyList<ManifestFile>> SortedRuns);

/// <summary>A run file in a manifest.</summary>
/// <param name="Summary">Summary of the file, repeated here so that the keys of an unreadable file are known.</param>
/// <param name="From">The first key that is read from this file; empty if all keys are read from it.</param>
/// <param name="DeadBytes">Bytes of chunks whose value was released.</param>
/// <param name="ClearedThrough">Range tombstones through this sequence hide no row of the file.</param>
/// <param name="WrittenAs">The file number in its checksums: the file's own number, unless another node wrote the
/// file.</param>
internal sealed record ManifestFile(
    RunSummary Summary,
    ReadOnlyMemory<byte> From,
    long DeadBytes,
    long ClearedThrough,
    long WrittenAs
);
