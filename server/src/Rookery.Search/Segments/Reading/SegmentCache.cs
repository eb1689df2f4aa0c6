using Rookery.Platform;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// Cache of the segment pages of all indexes of a node, within one memory share. A hit takes no lock. Eviction uses the
/// clock algorithm: a page that was read since the hand last passed it is kept for another round. A reader may use a
/// page after its eviction, because pages are garbage-collected arrays. Thread-safe.
/// </summary>
public sealed class SegmentCache
{
    // When other shares of the memory budget need memory, the cache keeps its limit divided by this number.
    private const int KeptDivisor = 4;

    private readonly Lock _gate = new();
    private readonly LinkedList<CachedPage> _pages = new();
    private readonly MemoryShare _share;
    private LinkedListNode<CachedPage>? _hand;
    private long _segmentBytes;

    /// <summary>Creates an empty cache.</summary>
    /// <param name="share">The share that pages are charged to. Its limit is the capacity.</param>
    public SegmentCache(MemoryShare share)
    {
        _share = share;
        share.AllowYielding(() => Math.Max(0, share.UsedBytes - Volatile.Read(ref _segmentBytes) - KeptBytes), Yield);
    }

    private long KeptBytes => _share.LimitBytes / KeptDivisor;

    /// <summary>
    /// Charges the objects of an open segment, even beyond the limit. Pages then have less memory.
    /// </summary>
    internal void AddSegment(int bytes)
    {
        Interlocked.Add(ref _segmentBytes, bytes);
        _share.Reserve(bytes);
    }

    /// <summary>Ends the charge of a closed segment.</summary>
    internal void RemoveSegment(int bytes)
    {
        Interlocked.Add(ref _segmentBytes, -bytes);
        _share.Release(bytes);
    }

    /// <summary>Adds a page, if memory for it is free or can be freed by evicting other pages.</summary>
    internal void Add(CachedPage page)
    {
        // Allocated first: if memory for it were missing later, the page would stay reserved and never be evicted.
        var node = new LinkedListNode<CachedPage>(page);
        lock (_gate)
        {
            if (page.Slots[page.Number] is not null)
            {
                return;
            }

            // Two rounds, because in the first the hand possibly only clears the marks of pages that were read.
            int passes = 2 * _pages.Count;
            while (!_share.TryReserve(page.Bytes.Length))
            {
                if (passes-- <= 0 || !EvictNext())
                {
                    return;
                }
            }

            _pages.AddLast(node);
            page.Node = node;
            Volatile.Write(ref page.Slots[page.Number], page);
        }
    }

    /// <summary>
    /// Reserves memory for objects that are not pages, such as the keys of sorted entries. The caller releases the
    /// memory; eviction does not.
    /// </summary>
    internal bool TryReserve(int bytes) => _share.TryReserve(bytes);

    /// <summary>Releases memory that <see cref="TryReserve"/> reserved.</summary>
    internal void Release(int bytes) => _share.Release(bytes);

    /// <summary>Removes all pages of a closed segment.</summary>
    internal void Remove(CachedPage?[] slots)
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

    /// <summary>Removes all pages, because the process is short of memory.</summary>
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

    private void Yield(long bytes)
    {
        lock (_gate)
        {
            long min = Math.Max(_share.UsedBytes - bytes, KeptBytes + Volatile.Read(ref _segmentBytes));
            for (int passes = 2 * _pages.Count; passes > 0 && _share.UsedBytes > min && EvictNext(); passes--) { }
        }
    }

    /// <summary>
    /// Moves the clock's hand by one page, and evicts it if it was not read. Returns false if there is no page.
    /// </summary>
    private bool EvictNext()
    {
        _hand ??= _pages.First;
        if (_hand is null)
        {
            return false;
        }

        var page = _hand.Value;
        if (page.WasRead)
        {
            page.WasRead = false;
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
        if (page.Node is { } node)
        {
            _hand = ReferenceEquals(_hand, node) ? node.Next : _hand;
            _pages.Remove(node);
            page.Node = null;
            Volatile.Write(ref page.Slots[page.Number], null);
            _share.Release(page.Bytes.Length);
        }
    }
}

/// <summary>A cached page.</summary>
/// <param name="slots">The cached pages of its segment, by page number.</param>
/// <param name="number">The page number.</param>
/// <param name="bytes">The content, without the checksum.</param>
internal sealed class CachedPage(CachedPage?[] slots, int number, byte[] bytes)
{
    /// <summary>The cached pages of its segment, by page number.</summary>
    internal CachedPage?[] Slots => slots;

    /// <summary>The page number.</summary>
    public int Number => number;

    /// <summary>The content, without the checksum.</summary>
    public byte[] Bytes => bytes;

    /// <summary>
    /// Whether the page was read since the hand last passed it. A race may lose the mark, which changes only the order
    /// of eviction.
    /// </summary>
    public bool WasRead { get; set; }

    /// <summary>Its node in the cache's list; null if it is not cached. Accessed under the cache's lock.</summary>
    public LinkedListNode<CachedPage>? Node { get; set; }
}
