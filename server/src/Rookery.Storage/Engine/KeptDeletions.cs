using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Which deletions stay in runs although nothing is left that they hide: the newest of each group, up to a number. It
/// bounds what they cost, on disk and to a walk that passes over them, whatever the load is: a bound by time would not.
/// </summary>
internal static class KeptDeletions
{
    // A walk over all rows takes at most so much longer for them, beyond the fixed number.
    private const int ShareOfRows = 8;

    /// <summary>Tombstones up to this sequence may be dropped when nothing is left that they hide.</summary>
    /// <param name="least">How many are kept at least; 0 for none.</param>
    /// <param name="runs">The runs of the group by now.</param>
    /// <param name="position">The last batch that is, or is to be, in runs.</param>
    public static long ForgettableThrough(long least, ReadOnlySpan<SortedRun> runs, ManifestPosition position)
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

        long left = Math.Max(least, rows / ShareOfRows);
        foreach (
            RunSummary file in runs.ToArray()
                .SelectMany(run => run.Files)
                .Select(file => file.Summary)
                .OrderByDescending(file => file.LargestSequence)
        )
        {
            left -= file.Tombstones;
            if (left < 0)
            {
                return file.LargestSequence;
            }
        }

        return 0;
    }
}
