using Rookery.Queries.Conditions;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>The first entries in the order of their etags, as many as are wanted. For one thread.</summary>
/// <param name="capacity">How many are wanted.</param>
/// <param name="memory">What they take is drawn from here.</param>
internal sealed class FoundEntries(long capacity, ScanMemory memory)
{
    private const int EntryBytes = 64;
    private const int BytesPerStep = 64 * 1024;

    private static readonly Comparer<FoundEntry> NewestFirst = Comparer<FoundEntry>.Create(
        static (one, other) => Compare(other, one)
    );

    private readonly PriorityQueue<FoundEntry, FoundEntry> _newestFirst = new(NewestFirst);
    private readonly List<FoundEntry> _all = [];
    private readonly bool _isBounded = capacity < int.MaxValue / 2;
    private long _reservedBytes;

    /// <summary>Whether an entry with this etag would stay.</summary>
    public bool Wants(long etag) =>
        !_isBounded
        || _newestFirst.Count < capacity
        || (capacity > 0 && _newestFirst.TryPeek(out var newest, out _) && etag < newest.Etag);

    /// <summary>Keeps a wanted entry.</summary>
    public void Add(in FoundEntry entry)
    {
        Reserve();
        if (!_isBounded)
        {
            _all.Add(entry);
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

    /// <summary>The entries, the oldest first.</summary>
    public FoundEntry[] InOrder()
    {
        FoundEntry[] entries = _isBounded
            ? [.. _newestFirst.UnorderedItems.Select(static item => item.Element)]
            : [.. _all];
        if (!IsInOrder(entries))
        {
            Array.Sort(entries, Compare);
        }

        return entries;
    }

    // Entries of one document have one etag, and lie side by side.
    private static int Compare(FoundEntry one, FoundEntry other) =>
        one.Etag != other.Etag ? one.Etag.CompareTo(other.Etag) : one.Entry.CompareTo(other.Entry);

    // What was not written again lies as it came.
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
        if ((long)(_newestFirst.Count + _all.Count + 1) * EntryBytes > _reservedBytes)
        {
            memory.Take(BytesPerStep);
            _reservedBytes += BytesPerStep;
        }
    }
}
