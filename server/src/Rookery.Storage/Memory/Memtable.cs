using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// Rows that are applied but not yet in a run. One thread writes, in batches that readers see whole or not at all; any
/// number read without locks. Reference counted: when the last reference goes its memory does.
/// </summary>
internal sealed unsafe class Memtable
{
    private readonly Arena _arena;
    private readonly SkipList?[] _lastUsedByTable = new SkipList?[256];
    private SkipList[] _lists = [];
    private int _references = 1;
    private int _batch;

    /// <summary>Makes an empty memtable.</summary>
    public Memtable(ArenaPool pool)
    {
        _arena = new Arena(pool);
    }

    /// <summary>The number of the last batch that is complete; readers of it pass this as what they may see.</summary>
    public int LastBatch => _batch;

    /// <summary>Bytes of arena in use.</summary>
    public long Bytes => _arena.UsedBytes;

    /// <summary>The keyspaces in order. Lists that are added later are in later arrays.</summary>
    public SkipList[] Lists => Volatile.Read(ref _lists);

    /// <summary>
    /// Range tombstones of batches that are complete. They hide rows of lower sequence everywhere, here too.
    /// </summary>
    public RangeTombstoneSet RangeTombstones { get; private set; } = RangeTombstoneSet.Empty;

    /// <summary>The journal position of the last complete batch.</summary>
    public ManifestPosition Position { get; private set; }

    /// <summary>
    /// Whether it holds nothing that a flush would have to write. Rows of a batch that was abandoned are nobody's, and
    /// before any was completed a flush would have no position.
    /// </summary>
    public bool IsEmpty => _batch == 0 || (Lists.Length == 0 && RangeTombstones.IsEmpty);

    /// <summary>Adds a version to the batch that is open.</summary>
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
    /// The newest version of a key that a reader of batches up to <paramref name="visible"/> sees; null when it sees
    /// none.
    /// </summary>
    public MemtableNode* TryGet(ReadOnlySpan<byte> key, int visible)
    {
        SkipList[] all = Lists;
        int place = PlaceOf(all, MemtableNode.KeyspaceOf(key));
        if (place < 0)
        {
            return null;
        }

        MemtableNode* node = all[place].AtOrAfter(key);
        return NewestVisible(node, key, visible);
    }

    /// <summary>
    /// From the first version of a key on, the newest that is visible; null when none is, or when
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

            node = MemtableNode.Next(node, 0);
        }

        return null;
    }

    /// <summary>
    /// The index of the first list whose keyspace is at or above <paramref name="keyspace"/>, or its complement as
    /// <see cref="Array.BinarySearch{T}(T[], T)"/> gives it.
    /// </summary>
    public static int PlaceOf(SkipList[] all, ulong keyspace)
    {
        int low = 0;
        int high = all.Length - 1;
        while (low <= high)
        {
            int middle = (low + high) >>> 1;
            ulong found = all[middle].Keyspace;
            if (found == keyspace)
            {
                return middle;
            }

            if (found < keyspace)
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

    /// <summary>Takes a reference.</summary>
    public void Acquire() =>
        Invariant.Holds(Interlocked.Increment(ref _references) > 1, "a memtable that is in use is acquired");

    /// <summary>Gives a reference back.</summary>
    public void Release()
    {
        int left = Interlocked.Decrement(ref _references);
        Invariant.Holds(left >= 0, "a memtable is released once per reference");
        if (left == 0)
        {
            _arena.Free();
        }
    }

    private SkipList ListOf(ReadOnlySpan<byte> key)
    {
        ulong keyspace = MemtableNode.KeyspaceOf(key);
        ref SkipList? lastUsed = ref _lastUsedByTable[key[4]];
        if (lastUsed is not null && lastUsed.Keyspace == keyspace)
        {
            return lastUsed;
        }

        int place = PlaceOf(_lists, keyspace);
        if (place >= 0)
        {
            return lastUsed = _lists[place];
        }

        lastUsed = new SkipList(keyspace, _arena);
        Volatile.Write(ref _lists, [.. _lists.AsSpan(0, ~place), lastUsed, .. _lists.AsSpan(~place)]);
        return lastUsed;
    }
}
