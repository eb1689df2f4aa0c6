using Rookery.Storage.Install;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Manifest;

/// <summary>What is on disk for good: everything that an open engine starts from.</summary>
internal sealed record ManifestRecord
{
    /// <summary>Counts up with each write of a slot; the higher one counts.</summary>
    public required long Revision { get; init; }

    /// <summary>The highest feature level whose formats the directory may contain.</summary>
    public required int FeatureLevel { get; init; }

    /// <summary>The last batch that is in the runs.</summary>
    public required ManifestPosition Position { get; init; }

    /// <summary>File numbers from here on were never used.</summary>
    public required long NextFileId { get; init; }

    /// <summary>The sorted runs of each group, newest first, as files in key order.</summary>
    public required IReadOnlyList<ManifestGroup> Groups { get; init; }

    /// <summary>Range tombstones that still cover rows of runs.</summary>
    public required IReadOnlyList<RangeTombstone> RangeTombstones { get; init; }

    /// <summary>Range tombstones that cover nothing here any more, kept for stores that are behind.</summary>
    public required IReadOnlyList<RangeTombstone> PastRangeTombstones { get; init; }

    /// <summary>
    /// No tombstone of a higher sequence was ever dropped. A manifest of a program that did not count counts as if it
    /// had dropped all.
    /// </summary>
    public required long ForgottenThrough { get; init; }

    /// <summary>
    /// Set when this is not a whole state, but the rows of this sequence and above, and the ranges that were deleted.
    /// </summary>
    public long? Since { get; init; }

    /// <summary>
    /// Names the store for as long as it exists; empty in a checkpoint, which becomes a store of its own when it is
    /// first opened to be written.
    /// </summary>
    public required Guid StoreId { get; init; }

    /// <summary>Set from the moment that an installed state counts until the journal has followed.</summary>
    public InstallMark? Pending { get; init; }

    /// <summary>The files, sorted run by sorted run; one that was linked may come twice.</summary>
    public IEnumerable<ManifestFile> Files => Groups.SelectMany(group => group.SortedRuns).SelectMany(run => run);
}

/// <summary>The sorted runs of one group.</summary>
/// <param name="Group">The group's number.</param>
/// <param name="SortedRuns">Newest first.</param>
internal sealed record ManifestGroup(byte Group, IReadOnlyList<IReadOnlyList<ManifestFile>> SortedRuns);

/// <summary>One run file.</summary>
/// <param name="Summary">What it holds; repeated here so that a file that cannot be opened still says which keys it
/// had.</param>
/// <param name="From">The first key that counts; empty when all do.</param>
/// <param name="DeadBytes">Bytes of chunks whose value was released.</param>
/// <param name="ClearedThrough">Rows that range tombstones up to this sequence hide are not in it.</param>
/// <param name="WrittenAs">The file number that its checksums name: its own, unless it was made by the node that this
/// store got its state from.</param>
internal sealed record ManifestFile(
    RunSummary Summary,
    ReadOnlyMemory<byte> From,
    long DeadBytes,
    long ClearedThrough,
    long WrittenAs
);
