using Rookery.Platform;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Memory;

/// <summary>
/// Applied rows that are not in a run yet. One thread writes batches, and each batch becomes visible as a whole. Any
/// number of threads read without locks. Reference counted: the last release frees the memory.
/// </summary>
internal sealed unsafe class Memtable
{
    private readonly Arena _arena;
    private readonly TableMap _tables;
    private readonly SkipList?[] _lastUsedByTable = new SkipList?[256];
    private SkipList[] _lists = [];
    private int _references = 1;
    private int _batch; // number of the last complete batch

    /// <summary>Creates an empty memtable.</summary>
    public Memtable(ArenaPool pool, TableMap tables)
    {
        _arena = new Arena(pool);
        _tables = tables;
    }

    /// <summary>Number of the last complete batch; readers pass it as the last batch that they may see.</summary>
    public int LastBatch => _batch;

    /// <summary>Bytes of the arena in use.</summary>
    public long Bytes => _arena.UsedBytes;

    /// <summary>The lists of all keyspaces, in order. Adding a list replaces the array.</summary>
    public SkipList[] Lists => Volatile.Read(ref _lists);

    /// <summary>
    /// Range tombstones of the complete batches. They hide rows of lower sequence everywhere, including this memtable.
    /// </summary>
    public RangeTombstoneSet RangeTombstones { get; private set; } = RangeTombstoneSet.Empty;

    /// <summary>Log position of the last complete batch.</summary>
    public ManifestPosition Position { get; private set; }

    /// <summary>Whether a flush would write nothing: no batch was completed, or nothing was written.</summary>
    public bool IsEmpty => _batch == 0 || (Lists.Length == 0 && RangeTombstones.IsEmpty);

    /// <summary>Adds a version to the open batch.</summary>
    public MemtableNode* Insert(
        ReadOnlySpan<byte> key,
        long sequence,
        RowKind kind,
        ReadOnlySpan<byte> value,
        ReadOnlySpan<byte> tail
    ) => ListOf(key).Insert(key, sequence, kind, _batch + 1, value, tail);

    /// <summary>Completes the open batch.</summary>
    public void CompleteBatch(ManifestPosition position, RangeTombstoneSet rangeTombstones)
    {
        Position = position;
        RangeTombstones = rangeTombstones;
        _batch++;
    }

    /// <summary>
    /// Returns the newest version of a key in batches through <paramref name="visible"/>; null if there is none.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="hash">Its <see cref="KeyHash"/>.</param>
    /// <param name="visible">The last batch whose versions are returned.</param>
    public MemtableNode* TryGet(ReadOnlySpan<byte> key, ulong hash, int visible)
    {
        SkipList[] all = Lists;
        int place = PlaceOf(all, MemtableNode.KeyspaceOf(key));
        if (place < 0)
        {
            return null;
        }

        MemtableNode* node = all[place].NewestOf(key, hash);
        return NewestVisible(node, key, visible);
    }

    /// <summary>
    /// Returns the newest visible version of a key, starting at the key's first version; null if none is visible or
    /// <paramref name="node"/> has another key.
    /// </summary>
    public static MemtableNode* NewestVisible(MemtableNode* node, ReadOnlySpan<byte> key, int visible)
    {
        while (node is not null && MemtableNode.Key(node).SequenceEqual(key))
        {
            if (node->Batch <= visible)
            {
                return node;
            }

            node = MemtableNode.Next(node, level: 0);
        }

        return null;
    }

    /// <summary>
    /// Returns the index of the list with this keyspace, or the complement of the index of the next higher one, like
    /// <see cref="Array.BinarySearch{T}(T[], T)"/>.
    /// </summary>
    public static int PlaceOf(SkipList[] all, ulong keyspace)
    {
        int low = 0;
        int high = all.Length - 1;
        while (low <= high)
        {
            int middle = (low + high) >>> 1;
            ulong middleKeyspace = all[middle].Keyspace;
            if (middleKeyspace == keyspace)
            {
                return middle;
            }

            if (middleKeyspace < keyspace)
            {
                low = middle + 1;
            }
            else
            {
                high = middle - 1;
            }
        }

        return ~low;
    }

    /// <summary>Adds a reference.</summary>
    public void Acquire() =>
        Invariant.Holds(Interlocked.Increment(ref _references) > 1, "a memtable that is in use is acquired");

    /// <summary>Releases a reference.</summary>
    public void Release()
    {
        int remaining = Interlocked.Decrement(ref _references);
        Invariant.Holds(remaining >= 0, "a memtable is released once per reference");
        if (remaining == 0)
        {
            _arena.Free();
        }
    }

    private SkipList ListOf(ReadOnlySpan<byte> key)
    {
        ulong keyspace = MemtableNode.KeyspaceOf(key);
        ref SkipList? lastUsed = ref _lastUsedByTable[key[MemtableNode.KeyspaceBytes - 1]];
        if (lastUsed is not null && lastUsed.Keyspace == keyspace)
        {
            return lastUsed;
        }

        int place = PlaceOf(_lists, keyspace);
        if (place >= 0)
        {
            lastUsed = _lists[place];
            return lastUsed;
        }

        lastUsed = new SkipList(keyspace, _arena, _tables.IsTableLookedUp(key[MemtableNode.KeyspaceBytes - 1]));
        Volatile.Write(ref _lists, [.. _lists.AsSpan(0, ~place), lastUsed, .. _lists.AsSpan(~place)]);
        return lastUsed;
    }
}
