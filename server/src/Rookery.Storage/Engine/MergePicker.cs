using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Picks adjacent sorted runs of a group to merge (size-tiered). Reasons and figures: docs/explanation/storage.md.
/// </summary>
/// <param name="fanIn">Number of runs of one tier that are merged; also the size ratio between tiers.</param>
/// <param name="baseBytes">Maximum size of a run in the lowest tier.</param>
/// <param name="spaceFloorBytes">If the oldest run has at least this size, and the newer runs together are at least as
/// large as the oldest, all runs are merged.</param>
internal readonly record struct MergePicker(int fanIn, long baseBytes, long spaceFloorBytes)
{
    /// <summary>
    /// Returns the runs to merge, as a range of <paramref name="runs"/> (newest first); empty if there are none.
    /// </summary>
    /// <param name="runs">The group's sorted runs, newest first.</param>
    /// <param name="droppableThrough">Tombstones above this sequence are kept by every merge.</param>
    public Range Pick(ReadOnlySpan<SortedRun> runs, long droppableThrough)
    {
        Range best = default;
        long bestBytes = long.MaxValue;
        for (int start = 0; start < runs.Length; start++)
        {
            int tier = TierOf(runs[start].Bytes);
            long bytes = 0;
            int end = start;
            while (end < runs.Length && TierOf(runs[end].Bytes) <= tier)
            {
                bytes += runs[end].Bytes;
                end++;
            }

            if (end - start >= fanIn && bytes < bestBytes)
            {
                best = start..end;
                bestBytes = bytes;
            }
        }

        if (bestBytes < long.MaxValue)
        {
            return best;
        }

        if (IsWasteful(runs, droppableThrough))
        {
            return Range.All;
        }

        return default;
    }

    /// <summary>
    /// Returns fanIn adjacent runs that are each smaller than <paramref name="limitBytes"/>. Limits the number of runs
    /// in a group that is otherwise not merged.
    /// </summary>
    public Range PickSmall(ReadOnlySpan<SortedRun> runs, long limitBytes)
    {
        int small = 0;
        for (int place = 0; place < runs.Length; place++)
        {
            small = runs[place].Bytes < limitBytes ? small + 1 : 0;
            if (small == fanIn)
            {
                return (place + 1 - small)..(place + 1);
            }
        }

        return default;
    }

    // Estimates whether half of the bytes are waste: newer runs may contain new versions of rows in the oldest run, and
    // tombstones hide rows.
    private bool IsWasteful(ReadOnlySpan<SortedRun> runs, long droppableThrough)
    {
        if (runs.Length < 2)
        {
            return false;
        }

        long newer = 0;
        long tombstones = 0;
        long rows = 0;
        foreach (SortedRun run in runs)
        {
            newer += run.Bytes;
            tombstones += run.TombstonesThrough(droppableThrough);
            rows += run.Rows;
        }

        long oldest = runs[^1].Bytes;
        newer -= oldest;
        return (oldest >= spaceFloorBytes && newer >= oldest) || tombstones * 2 > rows;
    }

    private int TierOf(long bytes)
    {
        int tier = 0;
        for (long limit = baseBytes; bytes > limit; limit *= fanIn)
        {
            tier++;
        }

        return tier;
    }
}
