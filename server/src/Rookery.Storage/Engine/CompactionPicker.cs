using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Chooses which neighbouring sorted runs of a group to merge (size-tiered). Reasons and figures:
/// docs/explanation/storage.md.
/// </summary>
/// <param name="fanIn">How many runs of a tier make a merge; also the ratio of sizes between tiers.</param>
/// <param name="baseBytes">Runs up to this size are of the lowest tier.</param>
/// <param name="spaceFloorBytes">From this size on, the oldest run is merged with the newer ones when they have grown
/// as large as it is.</param>
internal readonly record struct CompactionPicker(int fanIn, long baseBytes, long spaceFloorBytes)
{
    /// <summary>
    /// The runs to merge, as an interval of <paramref name="runs"/> (newest first); empty when none need to be.
    /// </summary>
    /// <param name="runs">The runs.</param>
    /// <param name="forgettableThrough">Tombstones above this sequence stay whatever is merged.</param>
    public Range Pick(ReadOnlySpan<SortedRun> runs, long forgettableThrough)
    {
        Range best = default;
        long bestBytes = long.MaxValue;
        for (int start = 0; start < runs.Length; start++)
        {
            int tier = TierOf(runs[start].Bytes);
            long bytes = 0;
            int end = start;
            for (; end < runs.Length && TierOf(runs[end].Bytes) <= tier; end++)
            {
                bytes += runs[end].Bytes;
            }

            if (end - start >= fanIn && bytes < bestBytes)
            {
                best = start..end;
                bestBytes = bytes;
            }
        }

        return bestBytes < long.MaxValue ? best
            : IsWasteful(runs, forgettableThrough) ? Range.All
            : default;
    }

    /// <summary>
    /// As many neighbours as make a merge, each smaller than <paramref name="limitBytes"/>: for runs that are otherwise
    /// left as they are, so that they do not become ever more.
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

    // What lies above the oldest run may be new versions of what is in it, so that up to the size of the newer runs may
    // be waste; and deleted rows waste what they hide.
    private bool IsWasteful(ReadOnlySpan<SortedRun> runs, long forgettableThrough)
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
            tombstones += run.TombstonesThrough(forgettableThrough);
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
