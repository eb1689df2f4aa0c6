using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Applies range tombstones to the set of runs: removes files that they cover completely, without reading them, then
/// tombstones that no longer cover anything.
/// </summary>
internal static class CoveredRuns
{
    /// <summary>Removes covered files from <paramref name="runs"/>.</summary>
    /// <returns>The deletions, with tombstones that cover nothing moved to <see cref="Deletions.Past"/>.</returns>
    public static Deletions Drop(SortedRun[]?[] runs, Deletions deletions)
    {
        RangeTombstoneSet tombstones = deletions.Ranges;
        if (tombstones.IsEmpty)
        {
            return deletions;
        }

        for (int group = 0; group < runs.Length; group++)
        {
            if (runs[group] is { } ofGroup)
            {
                runs[group] =
                [
                    .. ofGroup
                        .Select(run =>
                            run.Files.Any(file => IsCovered(file, tombstones))
                                ? new SortedRun([.. run.Files.Where(file => !IsCovered(file, tombstones))])
                                : run
                        )
                        .Where(run => run.Files.Length > 0),
                ];
            }
        }

        RunEntry[] remainingFiles =
        [
            .. runs.Where(ofGroup => ofGroup is not null).SelectMany(ofGroup => ofGroup!).SelectMany(run => run.Files),
        ];
        return deletions.Keep([.. tombstones.Pieces.Where(piece => remainingFiles.Any(file => MayHide(piece, file)))]);
    }

    /// <summary>Returns whether a tombstone may hide rows of a file.</summary>
    public static bool MayHide(in RangeTombstone piece, RunEntry file) =>
        file.Summary.SmallestSequence < piece.Sequence
        && file.ClearedThrough < piece.Sequence
        && file.Overlaps(piece.From.Span, piece.ToExclusive.Span);

    private static bool IsCovered(RunEntry file, RangeTombstoneSet tombstones)
    {
        foreach (RangeTombstone piece in tombstones.Pieces)
        {
            if (
                file.Summary.LargestSequence < piece.Sequence
                && file.FirstKey.SequenceCompareTo(piece.From.Span) >= 0
                && file.LastKey.SequenceCompareTo(piece.ToExclusive.Span) < 0
            )
            {
                return true;
            }
        }

        return false;
    }
}
