using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// Iterates over the newest visible version of each key in a memtable, including tombstones. The creator of the cursor
/// keeps the memtable alive.
/// </summary>
internal sealed unsafe class MemtableCursor(Memtable memtable, int visible) : IRowCursor
{
    private readonly SkipList[] _lists = memtable.Lists;
    private MemtableNode* _current;
    private int _place;
    private bool _backward;

    public ReadOnlySpan<byte> Key => MemtableNode.Key(_current);

    public long Sequence => _current->Sequence;

    public RowKind Kind => _current->Kind;

    public ReadOnlySpan<byte> Value => MemtableNode.Value(_current);

    /// <summary>Always null: memory is not checked.</summary>
    public RunDamage? Damage => null;

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _backward = false;
        _place = Memtable.PlaceOf(_lists, MemtableNode.KeyspaceOf(from));
        MemtableNode* node = _place >= 0 ? _lists[_place].AtOrAfter(from) : null;
        if (_place < 0)
        {
            _place = ~_place;
            node = _place < _lists.Length ? _lists[_place].First : null;
        }

        return SettleForward(node);
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        _backward = true;
        if (toExclusive.IsEmpty)
        {
            _place = _lists.Length - 1;
            return SettleBackward(_place >= 0 ? _lists[_place].Last() : null);
        }

        _place = Memtable.PlaceOf(_lists, MemtableNode.KeyspaceOf(toExclusive));
        if (_place >= 0)
        {
            return SettleBackward(_lists[_place].Before(toExclusive));
        }

        _place = ~_place - 1;
        return SettleBackward(_place >= 0 ? _lists[_place].Last() : null);
    }

    public bool Move() =>
        _backward ? SettleBackward(_lists[_place].Before(Key)) : SettleForward(AfterVersionsOf(_current));

    public void Dispose() { }

    // Moves up from a key's first version to the first key with a visible version.
    private bool SettleForward(MemtableNode* node)
    {
        while (_place < _lists.Length)
        {
            while (node is not null)
            {
                if (node->Batch <= visible)
                {
                    _current = node;
                    return true;
                }

                node = MemtableNode.Next(node, level: 0);
            }

            _place++;
            node = _place < _lists.Length ? _lists[_place].First : null;
        }

        return false;
    }

    // Moves down from a key's oldest version to the first key with a visible version, then to that key's newest one.
    private bool SettleBackward(MemtableNode* node)
    {
        while (_place >= 0)
        {
            while (node is not null)
            {
                ReadOnlySpan<byte> key = MemtableNode.Key(node);
                MemtableNode* newest = Memtable.NewestVisible(_lists[_place].AtOrAfter(key), key, visible);
                if (newest is not null)
                {
                    _current = newest;
                    return true;
                }

                node = _lists[_place].Before(key);
            }

            _place--;
            node = _place >= 0 ? _lists[_place].Last() : null;
        }

        return false;
    }

    private static MemtableNode* AfterVersionsOf(MemtableNode* node)
    {
        MemtableNode* next = MemtableNode.Next(node, level: 0);
        while (
            next is not null
            && next->Prefix == node->Prefix
            && MemtableNode.Key(next).SequenceEqual(MemtableNode.Key(node))
        )
        {
            next = MemtableNode.Next(next, level: 0);
        }

        return next;
    }
}
