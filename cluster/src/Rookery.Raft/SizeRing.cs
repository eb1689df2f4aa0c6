namespace Rookery.Raft;

/// <summary>Sizes of consecutive entries: added and cut at the end, given back at the beginning. Four bytes an entry (64 Ki entries of a full journal: 256 KiB).</summary>
internal sealed class SizeRing
{
    private int[] items = new int[64];
    private int head;

    public int Count { get; private set; }

    public int this[int place]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)place, (uint)Count, nameof(place));
            return items[(head + place) & (items.Length - 1)];
        }
    }

    public void Add(int size)
    {
        if (Count == items.Length)
        {
            Grow();
        }

        items[(head + Count++) & (items.Length - 1)] = size;
    }

    public void RemoveLast(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)Count, nameof(count));
        Count -= count;
    }

    public void RemoveFirst(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)Count, nameof(count));
        head = (head + count) & (items.Length - 1);
        Count -= count;
    }

    private void Grow()
    {
        int[] larger = new int[items.Length * 2];
        for (int place = 0; place < Count; place++)
        {
            larger[place] = this[place];
        }

        (items, head) = (larger, 0);
    }
}
