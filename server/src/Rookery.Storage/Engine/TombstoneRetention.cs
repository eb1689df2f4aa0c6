using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Determines which tombstones runs retain although they hide no rows: about the newest of each group, up to a number.
/// A limit by number bounds their space and the time to skip them under any load.
/// </summary>
/// <remarks>
/// A file records how many tombstones it has and the range of its sequences. For each file written since the store was
/// opened, the store also remembers the lowest sequence of a tombstone. It assumes that a file's tombstones are spread
/// evenly from there to the file's highest sequence. So the limit can fall within one file, and then only the older
/// part of that file's tombstones is dropped. After a merge, one file may contain most tombstones.
/// </remarks>
internal static class TombstoneRetention
{
    // An eighth of a group's rows may be retained tombstones, so a scan takes at most about an eighth longer.
    private const int ShareOfRows = 8;

    /// <summary>Returns the sequence through which tombstones that hide no rows may be dropped.</summary>
    /// <param name="group">The group.</param>
    /// <param name="least">The limit of retained tombstones if an eighth of the rows is less; 0 retains none.</param>
    /// <param name="runs">The group's current runs.</param>
    /// <param name="position">Position of the last batch that is in runs, or will be.</param>
    /// <param name="droppedThrough">See <see cref="Deletions.DroppedThrough"/>.</param>
    public static long DroppableThrough(
        byte group,
        long least,
        ReadOnlySpan<SortedRun> runs,
        ManifestPosition position,
        long droppedThrough
    )
    {
        if (least == 0)
        {
            return position.Sequence;
        }

        long rows = 0;
        long tombstones = 0;
        foreach (SortedRun run in runs)
        {
            rows += run.Rows;
            foreach (RunEntry file in run.Files)
            {
                tombstones += CountIn(group, file.Summary);
            }
        }

        // A reader of changes needs all tombstones after one sequence, of all groups. So those through droppedThrough
        // are of no use any more.
        long limit = Math.Max(least, rows / ShareOfRows);
        return tombstones <= limit ? 0 : Math.Max(FindSequenceBefore(group, runs, limit), droppedThrough);
    }

    /// <summary>
    /// Returns the number of rows that record a deletion: tombstones, and all rows of released large values.
    /// </summary>
    public static long CountIn(byte group, RunSummary file) => group == TableMap.Released ? file.Rows : file.Tombstones;

    /// <summary>Whether a row records a deletion.</summary>
    public static bool IsDeletion(byte group, RowKind kind) => group == TableMap.Released || kind == RowKind.Tombstone;

    // Returns the highest sequence after which there are at least that many tombstones.
    private static long FindSequenceBefore(byte group, ReadOnlySpan<SortedRun> runs, long tombstones)
    {
        long low = 0;
        long high = 0;
        foreach (SortedRun run in runs)
        {
            high = Math.Max(high, run.Files.Max(static file => file.Summary.LargestSequence));
        }

        while (high - low > 1)
        {
            long middle = low + ((high - low) / 2);
            if (EstimateAfter(group, runs, middle) >= tombstones)
            {
                low = middle;
            }
            else
            {
                high = middle;
            }
        }

        return low;
    }

    private static double EstimateAfter(byte group, ReadOnlySpan<SortedRun> runs, long sequence)
    {
        double tombstones = 0;
        foreach (SortedRun run in runs)
        {
            foreach (RunEntry file in run.Files)
            {
                long before = Math.Max(file.DeletionsAfter, file.Summary.SmallestSequence - 1);
                long range = Math.Max(1, file.Summary.LargestSequence - before);
                double share = Math.Clamp((double)(file.Summary.LargestSequence - sequence) / range, 0, 1);
                tombstones += CountIn(group, file.Summary) * share;
            }
        }

        return tombstones;
    }
}
