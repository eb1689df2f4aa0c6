namespace Rookery.Storage;

/// <summary>
/// Range tombstones of one source, cut into pieces that do not overlap, each with the highest sequence that covers it. Immutable.
/// They hide rows of *other* sources: who writes a run leaves out the rows that its own tombstones had hidden, so that a repair may put
/// rows and the tombstone that clears their range into one run.
/// </summary>
internal sealed class RangeTombstoneSet
{
    /// <summary>No tombstones.</summary>
    public static RangeTombstoneSet Empty { get; } = new([]);

    /// <summary>Cuts tombstones, in any order and overlapping as they like, into pieces.</summary>
    public RangeTombstoneSet(IEnumerable<RangeTombstone> tombstones) => throw new NotSupportedException();

    /// <summary>The pieces in key order.</summary>
    public IReadOnlyList<RangeTombstone> Pieces => throw new NotSupportedException();

    /// <summary>Whether there are none.</summary>
    public bool IsEmpty => throw new NotSupportedException();

    /// <summary>The highest sequence of a tombstone that covers <paramref name="key"/>; -1 when none does. A row of another source is deleted when its sequence is lower.</summary>
    public long CoveringSequence(ReadOnlySpan<byte> key) => throw new NotSupportedException();

    /// <summary>The parts within [<paramref name="from"/>, <paramref name="toExclusive"/>); an empty <paramref name="toExclusive"/> is no bound.</summary>
    public RangeTombstoneSet Within(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive) => throw new NotSupportedException();

    /// <summary>All tombstones of several sets in one.</summary>
    public static RangeTombstoneSet Union(IEnumerable<RangeTombstoneSet> sets) => throw new NotSupportedException();
}
