using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Engine;

/// <summary>
/// What a store knows of deletions. Who asks for all that changed since a sequence gets a complete answer when it is
/// above <see cref="ForgottenThrough"/>: each later deletion is a tombstone in a run, or a range in
/// <see cref="Ranges"/> or <see cref="Past"/>. The argument is in docs/explanation/storage.md. Immutable.
/// </summary>
/// <param name="Ranges">Range tombstones that may hide rows of runs.</param>
/// <param name="Past">Range tombstones that hide nothing here any more, and may hide something in a store that is
/// behind.</param>
/// <param name="ForgottenThrough">No tombstone of a higher sequence was ever dropped.</param>
internal sealed record Deletions(RangeTombstoneSet Ranges, RangeTombstoneSet Past, long ForgottenThrough)
{
    // Few are needed: those of a database's forgotten deletions make one piece, and a database that was deleted
    // another.
    private const int MostPast = 256;

    /// <summary>What a manifest says.</summary>
    public static Deletions Of(ManifestRecord manifest) =>
        new(
            new RangeTombstoneSet(manifest.RangeTombstones),
            new RangeTombstoneSet(manifest.PastRangeTombstones),
            manifest.ForgottenThrough
        );

    /// <summary>These and more ranges.</summary>
    public Deletions With(RangeTombstoneSet added) =>
        added.IsEmpty ? this : this with { Ranges = RangeTombstoneSet.Union([Ranges, added]) };

    /// <summary>Only some of the ranges hide anything; the others are past.</summary>
    public Deletions Keep(RangeTombstone[] needed)
    {
        if (needed.Length == Ranges.Pieces.Count)
        {
            return this;
        }

        var gone = new RangeTombstoneSet(Ranges.Pieces.Where(piece => !needed.Contains(piece)));
        RangeTombstone[] past =
        [
            .. RangeTombstoneSet.Union([Past, gone]).Pieces.OrderByDescending(piece => piece.Sequence),
        ];
        return new Deletions(
            new RangeTombstoneSet(needed),
            new RangeTombstoneSet(past.Take(MostPast)),
            past.Skip(MostPast)
                .Aggregate(ForgottenThrough, static (forgotten, piece) => Math.Max(forgotten, piece.Sequence))
        );
    }

    /// <summary>Tombstones up to a sequence were dropped.</summary>
    public Deletions Forget(long sequence) =>
        sequence <= ForgottenThrough ? this : this with { ForgottenThrough = sequence };

    /// <summary>All ranges of a sequence or above, whether they hide anything here or not.</summary>
    public RangeTombstoneSet Since(long sequence) =>
        new(RangeTombstoneSet.Union([Ranges, Past]).Pieces.Where(piece => piece.Sequence >= sequence));
}
