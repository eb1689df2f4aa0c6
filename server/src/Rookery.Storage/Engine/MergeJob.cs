using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// A running merge. It is done in parts, in key order. After each part a new manifest is written: keys below the part's
/// end are in the output, the others still in the inputs. Kept in memory only; after a restart the remaining runs are
/// picked again.
/// </summary>
/// <param name="Group">The group of tables.</param>
/// <param name="Inputs">The adjacent sorted runs to merge, newest first.</param>
/// <param name="Output">The run with the rows merged so far, older than the inputs; null before the first part.</param>
/// <param name="DroppableThrough">The sequence through which all parts may drop tombstones that hide no rows. Computed
/// once for all parts. If it were estimated again after each part, it would rise with each part, and the last parts
/// would drop nearly all tombstones.</param>
/// <param name="IsRequested">Whether it belongs to a full merge that was requested.</param>
internal sealed record MergeJob(
    byte Group,
    SortedRun[] Inputs,
    SortedRun? Output,
    long DroppableThrough,
    bool IsRequested
)
{
    /// <summary>
    /// Returns the positions of inputs and output among the group's runs. Empty if one of them was removed by a range
    /// deletion; the job must then end.
    /// </summary>
    public Range FindIn(ReadOnlySpan<SortedRun> runs)
    {
        SortedRun[] all = Output is null ? Inputs : [.. Inputs, Output];
        for (int start = 0; start + all.Length <= runs.Length; start++)
        {
            if (runs.Slice(start, all.Length).SequenceEqual(all, ReferenceEqualityComparer.Instance))
            {
                return start..(start + all.Length);
            }
        }

        return default;
    }
}
