namespace Rookery.Raft;

/// <summary>
/// The sizes of consecutive log entries, in bytes. Entries are added and removed at the end, and removed at the
/// beginning. Uses four bytes for each entry (256 KiB for the 64 Ki entries of a full journal).
/// </summary>
internal sealed class SizeRing
{
    // The length is a power of two, so that a bit mask wraps a place around.
    private int[] _items = new int[64];
    private int _head;

    public int Count { get; private set; }

    public int this[int place]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)place, (uint)Count, nameof(place));
            return _items[(_head + place) & (_items.Length - 1)];
        }
    }

    public void Add(int size)
    {
        if (Count == _items.Length)
        {
            Grow();
        }

        _items[(_head + Count) & (_items.Length - 1)] = size;
        Count++;
    }

    public void RemoveLast(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)Count, nameof(count));
        Count -= count;
    }

    public void RemoveFirst(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)Count, nameof(count));
        _head = (_head + count) & (_items.Length - 1);
        Count -= count;
    }

    private void Grow()
    {
        int[] larger = new int[_items.Length * 2];
        for (int place = 0; place < Count; place++)
        {
            larger[place] = this[place];
        }

        (_items, _head) = (larger, 0);
    }
}
