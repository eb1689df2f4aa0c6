using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Determines which tombstones runs retain although they hide no rows: the newest of each group, up to a number. A
/// limit by number bounds their space and the time to skip them under any load.
/// </summary>
internal static class TombstoneRetention
{
    // An eighth of a group's rows may be retained tombstones, so a scan takes at most an eighth longer.
    private const int ShareOfRows = 8;

    /// <summary>Returns the sequence through which tombstones that hide no rows may be dropped.</summary>
    /// <param name="least">The limit of retained tombstones if an eighth of the rows is less; 0 retains none.</param>
    /// <param name="runs">The group's current runs.</param>
    /// <param name="position">Position of the last batch that is in runs, or will be.</param>
    public static long DroppableThrough(long least, ReadOnlySpan<SortedRun> runs, ManifestPosition position)
    {
        if (least == 0)
        {
            return position.Sequence;
        }

        long rows = 0;
        foreach (SortedRun run in runs)
        {
            rows += run.Rows;
        }

        long remaining = Math.Max(least, rows / ShareOfRows);
        IEnumerable<RunSummary> newestFirst = runs.ToArray()
            .SelectMany(run => run.Files)
            .Select(file => file.Summary)
            .OrderByDescending(file => file.LargestSequence);
        foreach (RunSummary file in newestFirst)
        {
            remaining -= file.Tombstones;
            if (remaining < 0)
            {
                return file.LargestSequence;
            }
        }

        return 0;
    }
}
