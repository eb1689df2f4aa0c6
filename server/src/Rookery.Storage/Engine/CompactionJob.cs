using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// A merge under way. It is done in parts, each of which ends in a manifest: keys below the end of a part are in the
/// output, the inputs begin after it. Forgotten by a restart, after which what is left is chosen anew.
/// </summary>
/// <param name="Group">The group.</param>
/// <param name="Inputs">Sorted runs that are merged, newest first, neighbours.</param>
/// <param name="Output">The run of what is merged by now, behind the inputs; null when there is none yet.</param>
internal sealed record CompactionJob(byte Group, SortedRun[] Inputs, SortedRun? Output)
{
    /// <summary>
    /// Where inputs and output lie in the group; empty when one of them is gone (a deleted range took it), which ends
    /// the job.
    /// </summary>
    public Range PlaceIn(ReadOnlySpan<SortedRun> runs)
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
