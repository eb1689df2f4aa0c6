using System.Numerics;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// Chooses the segments to merge next. Eight segments of similar size (within a factor of eight) are merged into one.
/// So an entry is rewritten once each time the index grows by a factor of eight, and a query reads only a few segments
/// of each size. A segment with half of its entries dead is rewritten alone.
/// </summary>
internal static class MergePolicy
{
    private const int SegmentsPerMerge = 8;

    // The binary logarithm of the factor of eight between one tier of sizes and the next.
    private const int FactorBits = 3;

    // Segments below eight times this size form the lowest tier.
    private const long SmallBytes = 64 << 10;

    /// <summary>Returns the segments to merge; empty if none need merging.</summary>
    public static IReadOnlyList<HeldSegment> Choose(IReadOnlyList<HeldSegment> segments)
    {
        var tier = segments
            .GroupBy(TierOf)
            .Where(static tier => tier.Count() >= SegmentsPerMerge)
            .MinBy(static tier => tier.Key)
            ?.Take(SegmentsPerMerge)
            .ToList();
        if (tier is not null && tier.Sum(static segment => (long)segment.Live.LiveCount) <= SegmentFormat.EntryLimit)
        {
            return tier;
        }

        var halfDead = segments.FirstOrDefault(static segment =>
            2 * (long)segment.Live.DeadCount >= segment.Live.Entries
        );
        return halfDead is null ? [] : [halfDead];
    }

    private static int TierOf(HeldSegment segment)
    {
        long liveBytes = (long)(
            (double)segment.Handle.Summary.FileBytes * segment.Live.LiveCount / Math.Max(1, segment.Live.Entries)
        );
        return BitOperations.Log2((ulong)Math.Max(1, liveBytes / SmallBytes)) / FactorBits;
    }
}
