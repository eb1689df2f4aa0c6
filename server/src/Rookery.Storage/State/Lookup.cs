using System.Runtime.CompilerServices;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// Finds the newest version of a key in a state: memtables first, then the group's runs, newest first.
/// </summary>
internal static unsafe class Lookup
{
    /// <summary>The newest row that exists: neither deleted nor covered by a range tombstone.</summary>
    /// <param name="state">Where to look.</param>
    /// <param name="visibleBatch">The last batch of the active memtable that may be seen.</param>
    /// <param name="rangeTombstones">Those that hide rows.</param>
    /// <param name="key">The key.</param>
    /// <param name="row">The row.</param>
    public static bool TryGet(
        EngineState state,
        int visibleBatch,
        RangeTombstoneSet rangeTombstones,
        ReadOnlySpan<byte> key,
        out Row row
    )
    {
        if (!TryGetAnyKind(state, visibleBatch, key, out row))
        {
            return false;
        }

        if (
            row.Kind == RowKind.Tombstone
            || (!rangeTombstones.IsEmpty && rangeTombstones.CoveringSequence(key) > row.Sequence)
        )
        {
            row.Dispose();
            row = default;
            return false;
        }

        return true;
    }

    /// <summary>The newest version whatever it says; range tombstones are not asked.</summary>
    public static bool TryGetAnyKind(EngineState state, int visibleBatch, ReadOnlySpan<byte> key, out Row row)
    {
        MemtableNode* node = InMemtables(state, visibleBatch, key);
        if (node is not null)
        {
            row = new Row(state, visibleBatch, node);
            return true;
        }

        return TryGetFromRuns(state, visibleBatch, key, out row);
    }

    /// <summary>
    /// The newest version of a key when it lies in a run, whatever it says; not when a memtable has one, or when surely
    /// no run does. The filters are asked first: a new key costs a writer little (0.2 µs), and an old one a look into
    /// the memtables before its block is read.
    /// </summary>
    public static bool TryGetAhead(EngineState state, ReadOnlySpan<byte> key, out Row row)
    {
        row = default;
        return RunsMayHold(state, key)
            && InMemtables(state, state.VisibleBatch, key) is null
            && TryGetFromRuns(state, state.VisibleBatch, key, out row);
    }

    /// <summary>Whether there is a version of a key.</summary>
    public static bool Holds(EngineState state, ReadOnlySpan<byte> key)
    {
        if (!TryGetAnyKind(state, state.VisibleBatch, key, out Row row))
        {
            return false;
        }

        row.Dispose();
        return true;
    }

    /// <summary>False when there surely is no version of a key; reads nothing from disk.</summary>
    public static bool MayHold(EngineState state, ReadOnlySpan<byte> key) =>
        state.Active.TryGet(key, state.VisibleBatch) is not null || RunsMayHold(state, key);

    private static bool RunsMayHold(EngineState state, ReadOnlySpan<byte> key)
    {
        ReadOnlySpan<SortedRun> runs = state.Runs.Of(state.Sources.Tables.GroupOf(key[MemtableNode.KeyspaceBytes - 1]));
        ulong hash = runs.IsEmpty ? 0 : KeyHash.Of(key);
        foreach (SortedRun run in runs)
        {
            if (run.FileOf(key) is { } file && (!file.IsReadable || file.Reader.MayContain(hash)))
            {
                return true;
            }
        }

        return false;
    }

    private static MemtableNode* InMemtables(EngineState state, int visibleBatch, ReadOnlySpan<byte> key)
    {
        MemtableNode* node = state.Active.TryGet(key, visibleBatch);
        for (int i = 0; node is null && i < state.Frozen.Length; i++)
        {
            node = state.Frozen[i].TryGet(key, MemtableNode.TakenBack - 1);
        }

        return node;
    }

    [SkipLocalsInit]
    private static bool TryGetFromRuns(EngineState state, int visibleBatch, ReadOnlySpan<byte> key, out Row row)
    {
        byte group = state.Sources.Tables.GroupOf(key[MemtableNode.KeyspaceBytes - 1]);
        ReadOnlySpan<SortedRun> runs = state.Runs.Of(group);
        ulong hash = runs.IsEmpty ? 0 : KeyHash.Of(key);
        foreach (SortedRun run in runs)
        {
            RunEntry? file = run.FileOf(key);
            if (file is null)
            {
                continue;
            }

            if (!file.IsReadable)
            {
                throw state.Sources.Damage.Note(file.Damage!, file, state.Sources.Tables.NamesOf(group));
            }

            switch (file.Reader.TryGet(key, hash, out RunRow found, out RunDamage? damage))
            {
                case RunLookup.Found:
                    row = new Row(state, visibleBatch, found);
                    return true;
                case RunLookup.Damaged:
                    throw state.Sources.Damage.Note(damage!, file, state.Sources.Tables.NamesOf(group));
                case RunLookup.Absent:
                default:
                    break;
            }
        }

        row = default;
        return false;
    }
}
