using Rookery.Storage.Runs;

namespace Rookery.Storage.Memory;

/// <summary>
/// Iterates over the newest visible version of each key in a memtable, including tombstones. The creator of the cursor
/// keeps the memtable alive.
/// </summary>
internal sealed unsafe class MemtableCursor(Memtable memtable, int visibleBatch) : IRowCursor
{
    private readonly SkipList[] _lists = memtable.Lists;
    private MemtableNode* _current;
    private int _listIndex;
    private bool _isBackward;

    public ReadOnlySpan<byte> Key => MemtableNode.Key(_current);

    public long Sequence => _current->Sequence;

    public RowKind Kind => _current->Kind;

    public ReadOnlySpan<byte> Value => MemtableNode.Value(_current);

    /// <summary>Always null: memory is not checked.</summary>
    public RunDamage? Damage => null;

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _isBackward = false;
        _listIndex = Memtable.PlaceOf(_lists, MemtableNode.KeyspaceOf(from));
        MemtableNode* node = _listIndex >= 0 ? _lists[_listIndex].AtOrAfter(from) : null;
        if (_listIndex < 0)
        {
            _listIndex = ~_listIndex;
            node = _listIndex < _lists.Length ? _lists[_listIndex].First : null;
        }

        return FindVisibleForward(node);
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        _isBackward = true;
        if (toExclusive.IsEmpty)
        {
            _listIndex = _lists.Length - 1;
            return FindVisibleBackward(_listIndex >= 0 ? _lists[_listIndex].Last() : null);
        }

        _listIndex = Memtable.PlaceOf(_lists, MemtableNode.KeyspaceOf(toExclusive));
        if (_listIndex >= 0)
        {
            return FindVisibleBackward(_lists[_listIndex].Before(toExclusive));
        }

        _listIndex = ~_listIndex - 1;
        return FindVisibleBackward(_listIndex >= 0 ? _lists[_listIndex].Last() : null);
    }

    public bool Move() =>
        _isBackward
            ? FindVisibleBackward(_lists[_listIndex].Before(Key))
            : FindVisibleForward(AfterVersionsOf(_current));

    public void Dispose() { }

    // Moves up from a key's first version to the first key with a visible version.
    private bool FindVisibleForward(MemtableNode* node)
    {
        while (_listIndex < _lists.Length)
        {
            while (node is not null)
            {
                if (node->Batch <= visibleBatch)
                {
                    _current = node;
                    return true;
                }

                node = MemtableNode.Next(node, level: 0);
            }

            _listIndex++;
            node = _listIndex < _lists.Length ? _lists[_listIndex].First : null;
        }

        return false;
    }

    // Moves down from a key's oldest version to the first key with a visible version, then to that key's newest one.
    private bool FindVisibleBackward(MemtableNode* node)
    {
        while (_listIndex >= 0)
        {
            while (node is not null)
            {
                ReadOnlySpan<byte> key = MemtableNode.Key(node);
                MemtableNode* newest = Memtable.NewestVisible(_lists[_listIndex].AtOrAfter(key), key, visibleBatch);
                if (newest is not null)
                {
                    _current = newest;
                    return true;
                }

                node = _lists[_listIndex].Before(key);
            }

            _listIndex--;
            node = _listIndex >= 0 ? _lists[_listIndex].Last() : null;
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
