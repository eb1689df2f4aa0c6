using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Engine;

/// <summary>
/// The deletions that a store still records, for stores that lag and request the changes since a sequence. Every
/// deletion after <see cref="DroppedThrough"/> is a tombstone in a run, or a range in <see cref="Ranges"/> or
/// <see cref="Past"/>; tombstones up to it may have been dropped. See docs/explanation/storage.md. Immutable.
/// </summary>
/// <param name="Ranges">Range tombstones that may hide rows of runs.</param>
/// <param name="Past">Range tombstones that hide nothing in this store, but may in a store that lags.</param>
/// <param name="DroppedThrough">Highest sequence of any dropped tombstone. Changes since an earlier sequence would be
/// incomplete.</param>
internal sealed record Deletions(RangeTombstoneSet Ranges, RangeTombstoneSet Past, long DroppedThrough)
{
    // A small limit suffices: a deleted database is one range, and so are the document tombstones that a database
    // removes.
    private const int MaxPastRanges = 256;

    /// <summary>Returns the deletions of a manifest.</summary>
    public static Deletions Of(ManifestRecord manifest) =>
        new(
            new RangeTombstoneSet(manifest.RangeTombstones),
            new RangeTombstoneSet(manifest.PastRangeTombstones),
            manifest.DroppedThrough
        );

    /// <summary>Returns these deletions with more ranges.</summary>
    public Deletions With(RangeTombstoneSet added) =>
        added.IsEmpty ? this : this with { Ranges = RangeTombstoneSet.Union([Ranges, added]) };

    /// <summary>
    /// Returns these deletions, with all ranges except <paramref name="needed"/> moved to the past ones.
    /// </summary>
    public Deletions Keep(RangeTombstone[] needed)
    {
        if (needed.Length == Ranges.Pieces.Count)
        {
            return this;
        }

        var unneeded = new RangeTombstoneSet(Ranges.Pieces.Where(piece => !needed.Contains(piece)));
        RangeTombstone[] past =
        [
            .. RangeTombstoneSet.Union([Past, unneeded]).Pieces.OrderByDescending(piece => piece.Sequence),
        ];
        return new Deletions(
            new RangeTombstoneSet(needed),
            new RangeTombstoneSet(past.Take(MaxPastRanges)),
            past.Skip(MaxPastRanges)
                .Aggregate(DroppedThrough, static (forgotten, piece) => Math.Max(forgotten, piece.Sequence))
        );
    }

    /// <summary>Returns these deletions after tombstones through a sequence were dropped.</summary>
    public Deletions Forget(long sequence) =>
        sequence <= DroppedThrough ? this : this with { DroppedThrough = sequence };

    /// <summary>Returns all ranges with at least this sequence, whether they hide rows in this store or not.</summary>
    public RangeTombstoneSet Since(long sequence) =>
        new(RangeTombstoneSet.Union([Ranges, Past]).Pieces.Where(piece => piece.Sequence >= sequence));
}
