using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// Finds the newest version of each key of a skip list by the key's hash: a table with open addressing. A lookup reads
/// one or two cache lines, and a search in the list some twenty nodes. One thread adds while any number of threads read
/// without locks: a table only fills, and a full one is replaced by a larger copy.
/// </summary>
/// <param name="arena">Memory of the tables, also of those that were replaced.</param>
internal sealed unsafe class KeyIndex(Arena arena)
{
    private const int FirstBits = 6;

    // A slot is 0, or the address of a node above the top bits of its key's hash.
    private const int TagBits = 16;

    private Table _table = new(arena, FirstBits);
    private int _count;

    /// <summary>Returns the newest version of a key; null if the list has none.</summary>
    /// <param name="key">The key.</param>
    /// <param name="hash">Its <see cref="KeyHash"/>.</param>
    public MemtableNode* Find(ReadOnlySpan<byte> key, ulong hash) =>
        NodeOf(Volatile.Read(ref SlotOf(Volatile.Read(ref _table), key, hash)));

    /// <summary>Adds a version, which is linked already, instead of an older one of its key.</summary>
    public void Put(MemtableNode* node)
    {
        if (2 * _count >= _table.Slots)
        {
            Grow();
        }

        var key = MemtableNode.Key(node);
        ulong hash = KeyHash.Of(key);
        ref ulong slot = ref SlotOf(_table, key, hash);
        _count += slot == 0 ? 1 : 0;
        Volatile.Write(ref slot, Pack(node, hash));
    }

    private static ulong Pack(MemtableNode* node, ulong hash)
    {
        Invariant.Holds((ulong)node >> (64 - TagBits) == 0, "an address has at most 48 bits");
        return ((ulong)node << TagBits) | TagOf(hash);
    }

    private static ushort TagOf(ulong hash) => (ushort)(hash >> (64 - TagBits));

    private static MemtableNode* NodeOf(ulong slot) => (MemtableNode*)(slot >> TagBits);

    // Returns the slot of a key, or the free one in which it belongs.
    private static ref ulong SlotOf(Table table, ReadOnlySpan<byte> key, ulong hash)
    {
        ushort tag = TagOf(hash);
        for (uint at = (uint)hash; ; at++)
        {
            ref ulong slot = ref table[at];
            ulong value = Volatile.Read(ref slot);
            if (value == 0 || ((ushort)value == tag && MemtableNode.Key(NodeOf(value)).SequenceEqual(key)))
            {
                return ref slot;
            }
        }
    }

    private void Grow()
    {
        var larger = new Table(arena, _table.Bits + 1);
        for (uint i = 0; i < _table.Slots; i++)
        {
            if (_table[i] is not 0 and var value)
            {
                var key = MemtableNode.Key(NodeOf(value));
                SlotOf(larger, key, KeyHash.Of(key)) = value;
            }
        }

        Volatile.Write(ref _table, larger);
    }

    /// <summary>The slots of a table, in pieces that fit chunks of the arena.</summary>
    private sealed class Table
    {
        private const int PieceBits = 15;

        private readonly nint[] _pieces;

        public Table(Arena arena, int bits)
        {
            Bits = bits;
            int slots = 1 << Math.Min(bits, PieceBits);
            _pieces = new nint[(1 << bits) / slots];
            for (int i = 0; i < _pieces.Length; i++)
            {
                _pieces[i] = (nint)arena.Allocate(slots * sizeof(ulong));
                new Span<ulong>((void*)_pieces[i], slots).Clear();
            }
        }

        public int Bits { get; }

        public int Slots => 1 << Bits;

        public ref ulong this[uint number]
        {
            get
            {
                uint slot = number & ((1u << Bits) - 1);
                return ref ((ulong*)_pieces[slot >> PieceBits])[slot & ((1u << PieceBits) - 1)];
            }
        }
    }
}
