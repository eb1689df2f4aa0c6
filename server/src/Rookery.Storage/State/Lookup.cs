using System.Runtime.CompilerServices;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// Finds the newest version of a key in a state: first in the memtables, then in the group's runs, newest first.
/// </summary>
internal static unsafe class Lookup
{
    /// <summary>Finds the newest row that is neither deleted nor covered by a range tombstone.</summary>
    /// <param name="state">The state to search.</param>
    /// <param name="visibleBatch">The last visible batch of the active memtable.</param>
    /// <param name="rangeTombstones">The range tombstones that hide rows.</param>
    /// <param name="key">The key.</param>
    /// <param name="row">The row.</param>
    public static bool TryGet(
        EngineState state,
        int visibleBatch,
        RangeTombstoneSet rangeTombstones,
        ReadOnlySpan<byte> key,
        out Row row
    ) => Find(state, visibleBatch, rangeTombstones, key, mayReadDisk: true, out row) == RowLookup.Found;

    /// <summary>
    /// Finds the newest row that is neither deleted nor covered by a range tombstone. Without
    /// <paramref name="mayReadDisk"/> the lookup stops at the first block that is not in memory.
    /// </summary>
    public static RowLookup Find(
        EngineState state,
        int visibleBatch,
        RangeTombstoneSet rangeTombstones,
        ReadOnlySpan<byte> key,
        bool mayReadDisk,
        out Row row
    )
    {
        RowLookup lookup = FindAnyKind(state, visibleBatch, key, mayReadDisk, out row);
        if (lookup != RowLookup.Found)
        {
            return lookup;
        }

        if (
            row.Kind == RowKind.Tombstone
            || (!rangeTombstones.IsEmpty && rangeTombstones.CoveringSequence(key) > row.Sequence)
        )
        {
            row.Dispose();
            row = default;
            return RowLookup.Absent;
        }

        return RowLookup.Found;
    }

    /// <summary>Finds the newest version of any kind; ignores range tombstones.</summary>
    public static bool TryGetAnyKind(EngineState state, int visibleBatch, ReadOnlySpan<byte> key, out Row row) =>
        FindAnyKind(state, visibleBatch, key, mayReadDisk: true, out row) == RowLookup.Found;

    /// <summary>
    /// Finds the newest version of a key if it is in a run, whatever its kind. Returns false if a memtable has the
    /// newest version, or if the filters of all runs exclude the key. Checks the filters before the memtables, because
    /// for a new key that alone is enough (0.2 µs).
    /// </summary>
    public static bool TryGetAhead(EngineState state, ReadOnlySpan<byte> key, out Row row)
    {
        row = default;
        ulong hash = KeyHash.Of(key);
        return RunsMayHold(state, key, hash)
            && InMemtables(state, state.VisibleBatch, key, hash) is null
            && FindInRuns(state, state.VisibleBatch, key, hash, mayReadDisk: true, out row) == RowLookup.Found;
    }

    /// <summary>Returns whether a key has any version.</summary>
    public static bool Holds(EngineState state, ReadOnlySpan<byte> key)
    {
        if (!TryGetAnyKind(state, state.VisibleBatch, key, out Row row))
        {
            return false;
        }

        row.Dispose();
        return true;
    }

    /// <summary>
    /// Returns false if a key surely has no version in a state without frozen memtables; reads nothing from disk.
    /// </summary>
    public static bool MayHold(EngineState state, ReadOnlySpan<byte> key)
    {
        ulong hash = KeyHash.Of(key);
        return state.Active.TryGet(key, hash, state.VisibleBatch) is not null || RunsMayHold(state, key, hash);
    }

    private static RowLookup FindAnyKind(
        EngineState state,
        int visibleBatch,
        ReadOnlySpan<byte> key,
        bool mayReadDisk,
        out Row row
    )
    {
        ulong hash = KeyHash.Of(key);
        MemtableNode* node = InMemtables(state, visibleBatch, key, hash);
        if (node is not null)
        {
            row = new Row(state, visibleBatch, node);
            return RowLookup.Found;
        }

        return FindInRuns(state, visibleBatch, key, hash, mayReadDisk, out row);
    }

    private static bool RunsMayHold(EngineState state, ReadOnlySpan<byte> key, ulong hash)
    {
        ReadOnlySpan<SortedRun> runs = state.Runs.Of(state.Sources.Tables.GroupOf(key[MemtableNode.KeyspaceBytes - 1]));
        foreach (SortedRun run in runs)
        {
            if (run.FileOf(key) is { } file && (!file.IsReadable || file.Reader.MayContain(hash)))
            {
                return true;
            }
        }

        return false;
    }

    private static MemtableNode* InMemtables(EngineState state, int visibleBatch, ReadOnlySpan<byte> key, ulong hash)
    {
        MemtableNode* node = state.Active.TryGet(key, hash, visibleBatch);
        for (int i = 0; node is null && i < state.Frozen.Length; i++)
        {
            node = state.Frozen[i].TryGet(key, hash, MemtableNode.MaxBatch);
        }

        return node;
    }

    [SkipLocalsInit]
    private static RowLookup FindInRuns(
        EngineState state,
        int visibleBatch,
        ReadOnlySpan<byte> key,
        ulong hash,
        bool mayReadDisk,
        out Row row
    )
    {
        byte group = state.Sources.Tables.GroupOf(key[MemtableNode.KeyspaceBytes - 1]);
        ReadOnlySpan<SortedRun> runs = state.Runs.Of(group);
        foreach (SortedRun run in runs)
        {
            RunEntry? file = run.FileOf(key);
            if (file is null)
            {
                continue;
            }

            if (!file.IsReadable && !mayReadDisk)
            {
                // Damage is logged, and logging may block like a read from disk.
                row = default;
                return RowLookup.NotInMemory;
            }

            if (!file.IsReadable)
            {
                throw state.Sources.Damage.Register(file.Damage!, file, state.Sources.Tables.NamesOf(group));
            }

            switch (file.Reader.TryGet(key, hash, mayReadDisk, out RunRow runRow, out RunDamage? damage))
            {
                case RunLookup.Found:
                    row = new Row(state, visibleBatch, runRow);
                    return RowLookup.Found;
                case RunLookup.NotInMemory:
                    row = default;
                    return RowLookup.NotInMemory;
                case RunLookup.Damaged:
                    throw state.Sources.Damage.Register(damage!, file, state.Sources.Tables.NamesOf(group));
                case RunLookup.Absent:
                default:
                    break;
            }
        }

        row = default;
        return RowLookup.Absent;
    }
}
