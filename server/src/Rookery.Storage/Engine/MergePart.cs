using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// The next part of a merge, in key order. It either moves input files that overlap no other input to the output
/// unchanged, or merges a key range.
/// </summary>
/// <param name="Linked">Files to move to the output unchanged; if there are any, this part merges nothing.</param>
/// <param name="ToExclusive">The end of the key range to merge; empty for no end.</param>
internal readonly record struct MergePart(IReadOnlyList<RunEntry> Linked, ReadOnlyMemory<byte> ToExclusive)
{
    /// <summary>Returns the next part.</summary>
    /// <param name="inputs">The parts of the inputs that are not merged yet.</param>
    /// <param name="mayLink">Decides whether a file that overlaps no other input is moved unchanged; otherwise it is
    /// rewritten.</param>
    public static MergePart Next(ReadOnlySpan<SortedRun> inputs, Func<RunEntry, bool> mayLink)
    {
        var files = new List<RunEntry>();
        foreach (SortedRun run in inputs)
        {
            files.AddRange(run.Files);
        }

        files.Sort(static (left, right) => left.FirstKey.SequenceCompareTo(right.FirstKey));
        var linked = new List<RunEntry>();
        ReadOnlyMemory<byte> reached = default; // the highest key of the files before the current one
        for (int i = 0; i < files.Count; i++)
        {
            bool isAlone =
                (i == 0 || files[i].FirstKey.SequenceCompareTo(reached.Span) > 0)
                && (i + 1 == files.Count || files[i].LastKey.SequenceCompareTo(files[i + 1].FirstKey) < 0);
            if (isAlone && mayLink(files[i]))
            {
                if (linked.Count < i)
                {
                    // Merges the files before it; the next part links it.
                    return new MergePart([], files[i].FirstKey.ToArray());
                }

                linked.Add(files[i]);
            }
            else if (linked.Count > 0)
            {
                return new MergePart(linked, default);
            }

            if (i == 0 || files[i].LastKey.SequenceCompareTo(reached.Span) > 0)
            {
                reached = files[i].Summary.LargestKey;
            }
        }

        return new MergePart(linked, default);
    }
}
