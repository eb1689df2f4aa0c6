using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// The next part of a merge, in key order: either files that nothing else overlaps and that are kept as they are, or a
/// stretch of keys to be merged.
/// </summary>
/// <param name="Linked">Files to keep; when there are any, nothing is merged in this part.</param>
/// <param name="ToExclusive">Where the stretch to be merged ends at the latest; empty for no end.</param>
internal readonly record struct CompactionPart(IReadOnlyList<RunEntry> Linked, ReadOnlyMemory<byte> ToExclusive)
{
    /// <summary>Finds the next part.</summary>
    /// <param name="inputs">What is left of the inputs.</param>
    /// <param name="mayLink">Whether a file is worth keeping as it is, if it overlaps no other.</param>
    public static CompactionPart Next(ReadOnlySpan<SortedRun> inputs, Func<RunEntry, bool> mayLink)
    {
        var files = new List<RunEntry>();
        foreach (SortedRun run in inputs)
        {
            files.AddRange(run.Files);
        }

        files.Sort(static (left, right) => left.FirstKey.SequenceCompareTo(right.FirstKey));
        var linked = new List<RunEntry>();
        ReadOnlyMemory<byte> reached = default;
        for (int i = 0; i < files.Count; i++)
        {
            bool isAlone =
                (i == 0 || files[i].FirstKey.SequenceCompareTo(reached.Span) > 0)
                && (i + 1 == files.Count || files[i].LastKey.SequenceCompareTo(files[i + 1].FirstKey) < 0);
            if (isAlone && mayLink(files[i]))
            {
                if (linked.Count < i)
                {
                    return new CompactionPart([], files[i].FirstKey.ToArray());
                }

                linked.Add(files[i]);
            }
            else if (linked.Count > 0)
            {
                return new CompactionPart(linked, default);
            }

            reached =
                i == 0 || files[i].LastKey.SequenceCompareTo(reached.Span) > 0 ? files[i].Summary.LargestKey : reached;
        }

        return new CompactionPart(linked, default);
    }
}
