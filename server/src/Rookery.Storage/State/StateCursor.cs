using Rookery.Storage.Memory;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>Opens one cursor over all parts of a state that may contain rows of a range.</summary>
internal static class StateCursor
{
    /// <summary>
    /// Returns a cursor over all rows of the range, including tombstones, except those in the files
    /// <paramref name="without"/> (paths). It may also return rows outside the range. The caller applies range
    /// tombstones.
    /// </summary>
    public static IRowCursor Open(
        EngineState state,
        int visibleBatch,
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> toExclusive,
        params ReadOnlySpan<string> without
    )
    {
        var sources = new List<IRowCursor>(2 + state.Frozen.Length);
        sources.Add(new MemtableCursor(state.Active, visibleBatch));
        foreach (Memtable frozen in state.Frozen)
        {
            // All batches of a frozen memtable are visible, except those that were rolled back.
            sources.Add(new MemtableCursor(frozen, MemtableNode.MaxBatch));
        }

        foreach (byte group in GroupsOf(state.Sources.Tables, from, toExclusive))
        {
            foreach (SortedRun run in state.Runs.Of(group))
            {
                AddOverlapping(sources, state.Sources, Without(run.Files, without), group, from, toExclusive);
            }
        }

        return sources.Count == 1 ? sources[0] : new MergingCursor(sources);
    }

    private static void AddOverlapping(
        List<IRowCursor> sources,
        StorageSources shared,
        RunEntry[] files,
        byte group,
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> toExclusive
    )
    {
        int first = 0;
        while (first < files.Length && files[first].LastKey.SequenceCompareTo(from) < 0)
        {
            first++;
        }

        int end = first;
        while (end < files.Length && files[end].Overlaps(from, toExclusive))
        {
            end++;
        }

        if (end > first)
        {
            sources.Add(
                new SortedRunCursor(
                    files[first..end],
                    shared.Damage,
                    shared.Tables.NamesOf(group),
                    static reader => reader.OpenCursor()
                )
            );
        }
    }

    private static RunEntry[] Without(RunEntry[] files, ReadOnlySpan<string> paths)
    {
        foreach (string path in paths)
        {
            files = [.. files.Where(file => !string.Equals(file.Path, path, StringComparison.Ordinal))];
        }

        return files;
    }

    // A range within one table needs only that table's group. Its end may be the start of the next keyspace.
    private static IEnumerable<byte> GroupsOf(TableMap tables, ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive)
    {
        ulong first = MemtableNode.KeyspaceOf(from);
        ulong end = MemtableNode.KeyspaceOf(toExclusive);
        bool isWithinOne =
            from.Length >= MemtableNode.KeyspaceBytes
            && !toExclusive.IsEmpty
            && (first == end || (first + 1 == end && toExclusive.Length <= MemtableNode.KeyspaceBytes));
        return isWithinOne ? [tables.GroupOf((byte)first)] : tables.Groups;
    }
}
