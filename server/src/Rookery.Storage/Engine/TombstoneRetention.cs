using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Determines which tombstones runs retain although they hide no rows: about the newest of each group, up to a number.
/// A limit by number bounds their space and the time to skip them under any load.
/// </summary>
/// <remarks>
/// A file records how many tombstones it has and the range of its sequences, not which of these are tombstones. They
/// count as spread evenly over the range. Without the estimate, all tombstones of the file in which the limit is
/// reached would be dropped, and after a merge that file may have most of them.
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
        var files = new List<RunSummary>();
        foreach (SortedRun run in runs)
        {
            rows += run.Rows;
            foreach (RunEntry file in run.Files)
            {
                RunSummary summary = file.Summary with { Tombstones = CountIn(group, file.Summary) };
                tombstones += summary.Tombstones;
                files.Add(summary);
            }
        }

        long limit = Math.Max(least, rows / ShareOfRows);
        return tombstones <= limit ? 0 : FindSequenceBefore(files, limit, droppedThrough);
    }

    /// <summary>
    /// Returns the number of rows that record a deletion: tombstones, and all rows of released large values.
    /// </summary>
    public static long CountIn(byte group, RunSummary file) => group == TableMap.Released ? file.Rows : file.Tombstones;

    // Returns the highest sequence after which there are at least that many tombstones.
    private static long FindSequenceBefore(List<RunSummary> files, long tombstones, long droppedThrough)
    {
        long low = 0;
        long high = files.Max(static file => file.LargestSequence);
        while (high - low > 1)
        {
            long middle = low + ((high - low) / 2);
            if (files.Sum(file => EstimateAfter(file, middle, droppedThrough)) >= tombstones)
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

    // Earlier merges dropped most tombstones through droppedThrough, so that those of a file are after it. Otherwise a
    // file with old rows would seem to have few new tombstones, and would retain ever more of them.
    private static double EstimateAfter(RunSummary file, long sequence, long droppedThrough)
    {
        long before =
            droppedThrough < file.LargestSequence
                ? Math.Max(droppedThrough, file.SmallestSequence - 1)
                : file.SmallestSequence - 1;
        double share = (double)(file.LargestSequence - sequence) / (file.LargestSequence - before);
        return file.Tombstones * Math.Clamp(share, 0, 1);
    }
}
