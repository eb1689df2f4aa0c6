using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// Finds the newest version of each key of a skip list by the key's hash: a table with open addressing. A lookup reads
/// one or two cache lines, and a search in the list some twenty nodes. One thread adds while any number of threads read
/// without locks: a table only fills, and a full one is replaced by a larger copy.
/// </summary>
/// <remarks>
/// The hash has no secret, because it is the one of the Bloom filters on disk. A client could choose keys whose hashes
/// are equal, and each would be compared with all others. So the search for a slot has a bound: beyond it the index
/// gives up, and the list is searched from then on.
/// </remarks>
/// <param name="arena">Memory of the tables, also of those that were replaced.</param>
internal sealed unsafe class KeyIndex(Arena arena)
{
    private const int FirstBits = 7;

    // A table is at most half full. Then the longest search among a million keys takes about 70 steps.
    private const int MaxSteps = 256;

    // A slot is 0, or the address of a node above the top bits of its key's hash.
    private const int TagBits = 16;

    private Table _table = new(arena, FirstBits);
    private int _count;
    private bool _hasGivenUp;

    /// <summary>Whether the index has given up, so that <see cref="TryFind"/> finds nothing.</summary>
    public bool HasGivenUp => Volatile.Read(ref _hasGivenUp);

    /// <summary>Finds the newest version of a key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="hash">Its <see cref="KeyHash"/>.</param>
    /// <param name="node">The version. Null or a version of another key if the list has none in the batches that were
    /// complete before the call.</param>
    /// <returns>False if the list must be searched instead.</returns>
    public bool TryFind(ReadOnlySpan<byte> key, ulong hash, out MemtableNode* node)
    {
        node = null;
        var table = Volatile.Read(ref _table);
        if (HasGivenUp || !TryFindSlot(table, key, hash, out uint slot))
        {
            return false;
        }

        node = NodeOf(Volatile.Read(ref table[slot]));
        return true;
    }

    /// <summary>Adds a version, which is linked already, instead of an older one of its key.</summary>
    public void Put(MemtableNode* node)
    {
        if (_hasGivenUp)
        {
            return;
        }

        if (2 * _count >= _table.Slots)
        {
            Grow();
        }

        var key = MemtableNode.Key(node);
        ulong hash = KeyHash.Of(key);
        if (!TryFindSlot(_table, key, hash, out uint slot))
        {
            // Readers of the batch that has this version see the flag, because they read it after the batch's number.
            Volatile.Write(ref _hasGivenUp, true);
            return;
        }

        _count += _table[slot] == 0 ? 1 : 0;
        Volatile.Write(ref _table[slot], Pack(node, hash));
    }

    private static ulong Pack(MemtableNode* node, ulong hash)
    {
        Invariant.Holds((ulong)node >> (64 - TagBits) == 0, "an address has at most 48 bits");
        return ((ulong)node << TagBits) | TagOf(hash);
    }

    private static ushort TagOf(ulong hash) => (ushort)(hash >> (64 - TagBits));

    private static MemtableNode* NodeOf(ulong slot) => (MemtableNode*)(slot >> TagBits);

    // Finds the slot of a key, or the free one in which it belongs; false after too many steps.
    private static bool TryFindSlot(Table table, ReadOnlySpan<byte> key, ulong hash, out uint slot)
    {
        ushort tag = TagOf(hash);
        for (uint step = 0; step < MaxSteps; step++)
        {
            slot = (uint)hash + step;
            ulong value = Volatile.Read(ref table[slot]);
            if (value == 0 || ((ushort)value == tag && MemtableNode.Key(NodeOf(value)).SequenceEqual(key)))
            {
                return true;
            }
        }

        slot = 0;
        return false;
    }

    private void Grow()
    {
        var larger = new Table(arena, _table.Bits + 1);
        for (uint i = 0; i < _table.Slots; i++)
        {
            if (_table[i] is not 0 and var value)
            {
                var key = MemtableNode.Key(NodeOf(value));
                if (!TryFindSlot(larger, key, KeyHash.Of(key), out uint slot))
                {
                    Volatile.Write(ref _hasGivenUp, true);
                    return;
                }

                larger[slot] = value;
            }
        }

        Volatile.Write(ref _table, larger);
    }

    /// <summary>The slots of a table, in pieces, so that little of the arena's chunks stays unused.</summary>
    private sealed class Table
    {
        private const int PieceBits = 12;

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
