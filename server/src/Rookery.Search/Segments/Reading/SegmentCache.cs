using Rookery.Platform;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// Pages of segments in memory, of all indexes of a node together, within one share of the budget. A hit takes no lock.
/// Who goes is decided by the clock: a page that was asked for since the hand last passed stays once more. A page is
/// memory of the garbage collector: a reader may use it for as long as it likes, evicted or not. Thread-safe.
/// </summary>
/// <param name="share">What the pages are charged to; its limit is the capacity.</param>
public sealed class SegmentCache(MemoryShare share)
{
    private readonly Lock _gate = new();
    private readonly LinkedList<CachedPage> _pages = new();
    private LinkedListNode<CachedPage>? _hand;

    /// <summary>Keeps a page that was read, if others can make room for it.</summary>
    internal void Add(CachedPage page)
    {
        lock (_gate)
        {
            if (page.Slots[page.Number] is not null)
            {
                return;
            }

            int passes = 2 * _pages.Count;
            while (!share.TryReserve(page.Bytes.Length))
            {
                if (passes-- <= 0 || !EvictNext())
                {
                    return;
                }
            }

            Volatile.Write(ref page.Slots[page.Number], page);
            page.Place = _pages.AddLast(page);
        }
    }

    /// <summary>Drops all pages of a segment that is closed.</summary>
    internal void Forget(CachedPage?[] slots)
    {
        lock (_gate)
        {
            foreach (var page in slots)
            {
                if (page is not null)
                {
                    Remove(page);
                }
            }
        }
    }

    /// <summary>Drops all pages: for a process that is short of memory.</summary>
    public void Trim()
    {
        lock (_gate)
        {
            while (_pages.First is { } first)
            {
                Remove(first.Value);
            }
        }
    }

    /// <summary>Moves the hand on by one page; false when there is none.</summary>
    private bool EvictNext()
    {
        _hand ??= _pages.First;
        if (_hand is null)
        {
            return false;
        }

        var page = _hand.Value;
        if (page.WasAskedFor)
        {
            page.WasAskedFor = false;
            _hand = _hand.Next;
        }
        else
        {
            Remove(page);
        }

        return true;
    }

    private void Remove(CachedPage page)
    {
        if (page.Place is { } place)
        {
            _hand = ReferenceEquals(_hand, place) ? place.Next : _hand;
            _pages.Remove(place);
            page.Place = null;
            Volatile.Write(ref page.Slots[page.Number], null);
            share.Release(page.Bytes.Length);
        }
    }
}

/// <summary>A page in memory.</summary>
/// <param name="slots">The pages of its segment, by number.</param>
/// <param name="number">Its number.</param>
/// <param name="bytes">What it holds, without the checksum.</param>
internal sealed class CachedPage(CachedPage?[] slots, int number, byte[] bytes)
{
    /// <summary>The pages of its segment, by number.</summary>
    internal CachedPage?[] Slots => slots;

    /// <summary>Its number.</summary>
    public int Number => number;

    /// <summary>What it holds, without the checksum.</summary>
    public byte[] Bytes => bytes;

    /// <summary>
    /// Whether somebody asked for it since the hand last passed. Races lose a mark, which only the order of eviction
    /// notices.
    /// </summary>
    public bool WasAskedFor { get; set; }

    /// <summary>Where it stands in the cache; null when it is not there. Under the cache's lock.</summary>
    public LinkedListNode<CachedPage>? Place { get; set; }
}
