using System.Numerics;
using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// The row versions of one keyspace in key order, newest version first (Pugh, "Skip lists", 1990). One thread inserts
/// while any number of threads read without locks: a node is complete before it is linked, from the lowest level up,
/// and is never unlinked.
/// </summary>
internal sealed unsafe class SkipList
{
    // With one node in four on the next level, twelve levels suffice for 16 million nodes, with 1.33 links each.
    private const int MaximumHeight = 12;

    // A shorter list is searched as fast as an index, and many lists of small databases have a few rows only.
    private const int LeastVersionsOfIndex = 32;

    private readonly Arena _arena;
    private readonly MemtableNode* _head;
    private readonly bool _isLookedUp;
    private KeyIndex? _index;

    // Position of the last insertion: on each level the node before and after it. Tables ordered by etag only append,
    // and bulk inserts mostly continue at the last position; then the search takes two comparisons.
    private readonly nint[] _before = new nint[MaximumHeight];
    private readonly nint[] _after = new nint[MaximumHeight];
    private int _height = 1;
    private int _count;
    private ulong _random = 0x9E3779B97F4A7C15; // any number except 0

    /// <summary>Creates an empty list.</summary>
    /// <param name="keyspace">The keyspace of its keys.</param>
    /// <param name="arena">Memory of its nodes.</param>
    /// <param name="isLookedUp">Whether keys are looked up, and not only walked over.</param>
    public SkipList(ulong keyspace, Arena arena, bool isLookedUp)
    {
        Keyspace = keyspace;
        _isLookedUp = isLookedUp;
        _arena = arena;
        _head = (MemtableNode*)arena.Allocate(MemtableNode.BytesOf(MaximumHeight, keyLength: 0, valueLength: 0));
        *_head = new MemtableNode { Height = MaximumHeight };
        new Span<nint>(MemtableNode.Links(_head), MaximumHeight).Clear();
        _before.AsSpan().Fill((nint)_head);
    }

    /// <summary>Database number and table.</summary>
    public ulong Keyspace { get; }

    /// <summary>The newest version of the lowest key; null if the list is empty.</summary>
    public MemtableNode* First => MemtableNode.Next(_head, level: 0);

    /// <summary>
    /// Inserts a version before the older versions of its key. The value is <paramref name="value"/> followed by
    /// <paramref name="tail"/>.
    /// </summary>
    public MemtableNode* Insert(
        ReadOnlySpan<byte> key,
        long sequence,
        RowKind kind,
        int batch,
        ReadOnlySpan<byte> value,
        ReadOnlySpan<byte> tail
    )
    {
        ulong prefix = MemtableNode.PrefixOf(key);
        if (!ContinuesAtLastInsertion(prefix, key))
        {
            FindNeighbours(prefix, key);
        }

        int nodeHeight = DrawHeight();
        var node = (MemtableNode*)
            _arena.Allocate(MemtableNode.BytesOf(nodeHeight, key.Length, value.Length + tail.Length));
        *node = new MemtableNode
        {
            Prefix = prefix,
            Sequence = sequence,
            Batch = batch,
            ValueLength = value.Length + tail.Length,
            KeyLength = checked((ushort)key.Length),
            Kind = kind,
            Height = (byte)nodeHeight,
        };
        byte* bytes = MemtableNode.KeyStart(node);
        key.CopyTo(new Span<byte>(bytes, key.Length));
        value.CopyTo(new Span<byte>(bytes + key.Length, value.Length));
        tail.CopyTo(new Span<byte>(bytes + key.Length + value.Length, tail.Length));
        nint* links = MemtableNode.Links(node);
        for (int level = 0; level < nodeHeight; level++)
        {
            links[level] = _after[level];
        }

        for (int level = 0; level < nodeHeight; level++)
        {
            Volatile.Write(ref MemtableNode.Links((MemtableNode*)_before[level])[level], (nint)node);
            _before[level] = (nint)node;
        }

        if (nodeHeight > _height)
        {
            Volatile.Write(ref _height, nodeHeight);
        }

        AddToIndex(node);
        return node;
    }

    /// <summary>
    /// Returns the newest version of a key of this keyspace. If there is none, returns null or a version of another
    /// key.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="hash">Its <see cref="KeyHash"/>.</param>
    public MemtableNode* NewestOf(ReadOnlySpan<byte> key, ulong hash) =>
        Volatile.Read(ref _index) is { } index && index.TryFind(key, hash, out MemtableNode* node)
            ? node
            : AtOrAfter(key);

    /// <summary>Returns the first version at or after a key of this keyspace; null if there is none.</summary>
    public MemtableNode* AtOrAfter(ReadOnlySpan<byte> key)
    {
        MemtableNode* node = LastBefore(MemtableNode.PrefixOf(key), key);
        return MemtableNode.Next(node, level: 0);
    }

    /// <summary>
    /// Returns the last version before a key of this keyspace, which is the oldest version of the previous key; null if
    /// there is none.
    /// </summary>
    public MemtableNode* Before(ReadOnlySpan<byte> key)
    {
        MemtableNode* node = LastBefore(MemtableNode.PrefixOf(key), key);
        return node == _head ? null : node;
    }

    /// <summary>Returns the last version; null if the list is empty.</summary>
    public MemtableNode* Last()
    {
        MemtableNode* node = _head;
        for (int level = Volatile.Read(ref _height) - 1; level >= 0; level--)
        {
            MemtableNode* next = MemtableNode.Next(node, level);
            while (next is not null)
            {
                node = next;
                next = MemtableNode.Next(node, level);
            }
        }

        return node == _head ? null : node;
    }

    // Returns the head if no version is before the key.
    private MemtableNode* LastBefore(ulong prefix, ReadOnlySpan<byte> key)
    {
        MemtableNode* node = _head;
        MemtableNode* notBefore = null;
        for (int level = Volatile.Read(ref _height) - 1; level >= 0; level--)
        {
            MemtableNode* next = MemtableNode.Next(node, level);
            while (next != notBefore && next is not null && MemtableNode.IsBefore(next, prefix, key))
            {
                node = next;
                next = MemtableNode.Next(node, level);
            }

            notBefore = next;
        }

        return node;
    }

    private void AddToIndex(MemtableNode* node)
    {
        _count++;
        if (_index is { } index)
        {
            index.Put(node);
        }
        else if (_isLookedUp && _count == LeastVersionsOfIndex)
        {
            Volatile.Write(ref _index, CreateIndex());
        }
    }

    private KeyIndex CreateIndex()
    {
        var index = new KeyIndex(_arena);
        MemtableNode* previous = null;
        for (MemtableNode* node = First; node is not null; node = MemtableNode.Next(node, level: 0))
        {
            // The newest version of a key comes first.
            if (previous is null || !MemtableNode.Key(previous).SequenceEqual(MemtableNode.Key(node)))
            {
                index.Put(node);
            }

            previous = node;
        }

        return index;
    }

    // Whether the key belongs between the last inserted node and its successor, so that no search is needed.
    private bool ContinuesAtLastInsertion(ulong prefix, ReadOnlySpan<byte> key)
    {
        var last = (MemtableNode*)_before[0];
        var next = (MemtableNode*)_after[0];
        return (last == _head || MemtableNode.IsBefore(last, prefix, key))
            && (next is null || !MemtableNode.IsBefore(next, prefix, key));
    }

    // Sets _before and _after to the neighbours of the key on each level.
    private void FindNeighbours(ulong prefix, ReadOnlySpan<byte> key)
    {
        MemtableNode* node = _head;
        MemtableNode* notBefore = null;
        for (int level = _height - 1; level >= 0; level--)
        {
            var next = (MemtableNode*)MemtableNode.Links(node)[level];
            while (next != notBefore && next is not null && MemtableNode.IsBefore(next, prefix, key))
            {
                node = next;
                next = (MemtableNode*)MemtableNode.Links(node)[level];
            }

            notBefore = next;
            _before[level] = (nint)node;
            _after[level] = (nint)next;
        }

        for (int level = _height; level < MaximumHeight; level++)
        {
            _before[level] = (nint)_head;
            _after[level] = 0;
        }
    }

    // Adds a level with probability 1/4 each: two more trailing zero bits of a random number (xorshift64). The added
    // bit limits their count to 62.
    private int DrawHeight()
    {
        _random ^= _random << 13;
        _random ^= _random >> 7;
        _random ^= _random << 17;
        int drawn = 1 + (BitOperations.TrailingZeroCount(_random | (1UL << 62)) / 2);
        Invariant.Holds(drawn > 0, "a node has at least one level");
        return Math.Min(drawn, MaximumHeight);
    }
}
