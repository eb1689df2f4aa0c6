using Rookery.Queries.Conditions;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>Keeps the entries with the lowest etags, up to a number. Not thread-safe.</summary>
/// <param name="capacity">Number of entries to keep.</param>
/// <param name="memory">Reserves the memory.</param>
internal sealed class FoundEntries(long capacity, ScanMemory memory)
{
    // Estimated memory of an entry and its queue item. Memory is reserved in larger steps.
    private const int EntryBytes = 64;
    private const int BytesPerStep = 64 * 1024;

    private static readonly Comparer<FoundEntry> NewestFirst = Comparer<FoundEntry>.Create(
        static (one, other) => Compare(other, one)
    );

    // The entries are in the queue if the capacity is bounded, else in the list.
    private readonly PriorityQueue<FoundEntry, FoundEntry> _newestFirst = new(NewestFirst);
    private readonly List<FoundEntry> _unbounded = [];
    private readonly bool _isBounded = capacity < int.MaxValue / 2;
    private long _reservedBytes;

    /// <summary>Returns whether an entry with this etag would be kept.</summary>
    public bool WouldKeep(long etag) =>
        !_isBounded
        || _newestFirst.Count < capacity
        || (capacity > 0 && _newestFirst.TryPeek(out var newest, out _) && etag < newest.Etag);

    /// <summary>Adds an entry, for which <see cref="WouldKeep"/> is true.</summary>
    public void Add(in FoundEntry entry)
    {
        Reserve();
        if (!_isBounded)
        {
            _unbounded.Add(entry);
        }
        else if (_newestFirst.Count < capacity)
        {
            _newestFirst.Enqueue(entry, entry);
        }
        else
        {
            _newestFirst.EnqueueDequeue(entry, entry);
        }
    }

    /// <summary>Returns the entries, the lowest etag first.</summary>
    public FoundEntry[] InOrder()
    {
        FoundEntry[] entries = _isBounded
            ? [.. _newestFirst.UnorderedItems.Select(static item => item.Element)]
            : [.. _unbounded];
        if (!IsInOrder(entries))
        {
            Array.Sort(entries, Compare);
        }

        return entries;
    }

    // Entries of one document have the same etag, so their numbers decide.
    private static int Compare(FoundEntry one, FoundEntry other) =>
        one.Etag != other.Etag ? one.Etag.CompareTo(other.Etag) : one.Entry.CompareTo(other.Entry);

    // Entries are usually in order already: only rewritten documents change the order.
    private static bool IsInOrder(FoundEntry[] entries)
    {
        for (int i = 1; i < entries.Length; i++)
        {
            if (Compare(entries[i - 1], entries[i]) > 0)
            {
                return false;
            }
        }

        return true;
    }

    private void Reserve()
    {
        if ((long)(_newestFirst.Count + _unbounded.Count + 1) * EntryBytes > _reservedBytes)
        {
            memory.Reserve(BytesPerStep);
            _reservedBytes += BytesPerStep;
        }
    }
}
