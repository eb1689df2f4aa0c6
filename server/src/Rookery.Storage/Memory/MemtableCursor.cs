namespace Rookery.Storage;

/// <summary>Walks the newest visible version of each key of a memtable, tombstones included. The memtable is kept alive by whoever made the cursor.</summary>
internal sealed unsafe class MemtableCursor(Memtable memtable, int visible) : IRowCursor
{
    private readonly SkipList[] lists = memtable.Lists;
    private MemtableNode* current;
    private int place;
    private bool backward;

    public ReadOnlySpan<byte> Key => MemtableNode.Key(current);

    public long Sequence => current->Sequence;

    public RowKind Kind => current->Kind;

    public ReadOnlySpan<byte> Value => MemtableNode.Value(current);

    /// <summary>Never any: memory is not checked.</summary>
    public RunDamage? Damage => null;

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        backward = false;
        place = Memtable.PlaceOf(lists, MemtableNode.KeyspaceOf(from));
        MemtableNode* node = place >= 0 ? lists[place].AtOrAfter(from) : null;
        if (place < 0)
        {
            place = ~place;
            node = place < lists.Length ? lists[place].First : null;
        }

        return SettleForward(node);
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        backward = true;
        if (toExclusive.IsEmpty)
        {
            place = lists.Length - 1;
            return SettleBackward(place >= 0 ? lists[place].Last() : null);
        }

        place = Memtable.PlaceOf(lists, MemtableNode.KeyspaceOf(toExclusive));
        if (place >= 0)
        {
            return SettleBackward(lists[place].Before(toExclusive));
        }

        place = ~place - 1;
        return SettleBackward(place >= 0 ? lists[place].Last() : null);
    }

    public bool Move() => backward ? SettleBackward(lists[place].Before(Key)) : SettleForward(AfterVersionsOf(current));

    public void Dispose()
    {
    }

    // From a first version on, goes up to the first key of which a version is visible.
    private bool SettleForward(MemtableNode* node)
    {
        while (place < lists.Length)
        {
            while (node is not null)
            {
                if (node->Batch <= visible)
                {
                    current = node;
                    return true;
                }

                node = MemtableNode.Next(node, 0);
            }

            place++;
            node = place < lists.Length ? lists[place].First : null;
        }

        return false;
    }

    // From the oldest version of a key on, goes down to the first key of which a version is visible, and there to its newest.
    private bool SettleBackward(MemtableNode* node)
    {
        while (place >= 0)
        {
            while (node is not null)
            {
                ReadOnlySpan<byte> key = MemtableNode.Key(node);
                MemtableNode* newest = Memtable.NewestVisible(lists[place].AtOrAfter(key), key, visible);
                if (newest is not null)
                {
                    current = newest;
                    return true;
                }

                node = lists[place].Before(key);
            }

            place--;
            node = place >= 0 ? lists[place].Last() : null;
        }

        return false;
    }

    private static MemtableNode* AfterVersionsOf(MemtableNode* node)
    {
        MemtableNode* next = MemtableNode.Next(node, 0);
        while (next is not null && next->Prefix == node->Prefix && MemtableNode.Key(next).SequenceEqual(MemtableNode.Key(node)))
        {
            next = MemtableNode.Next(next, 0);
        }

        return next;
    }
}
