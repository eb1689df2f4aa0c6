using Rookery.Queries.Conditions;

namespace Rookery.Queries.Scanning;

/// <summary>Keeps the first results in the query's order, up to a number. Not thread-safe.</summary>
/// <param name="keys">The order.</param>
/// <param name="capacity">Number of results to keep.</param>
internal sealed class HitHeap(SortKeys keys, long capacity)
{
    private readonly PriorityQueue<ScanHit, ScanHit> _lastFirst = new(
        Comparer<ScanHit>.Create((one, other) => Compare(keys, other, one))
    );

    /// <summary>Returns whether a result with this key would be kept.</summary>
    /// <param name="sortKey">Its sort key.</param>
    /// <param name="ordinal">Orders results with equal keys.</param>
    public bool WouldKeep(ReadOnlySpan<byte> sortKey, long ordinal)
    {
        if (capacity <= 0)
        {
            return false;
        }

        if (_lastFirst.Count < capacity)
        {
            return true;
        }

        var last = _lastFirst.Peek();
        int order = keys.Compare(sortKey, last.SortKey);
        return order < 0 || (order == 0 && ordinal < last.Ordinal);
    }

    /// <summary>The last of the kept results; null while there are fewer than wanted.</summary>
    public ScanHit? Last => capacity > 0 && _lastFirst.Count >= capacity ? _lastFirst.Peek() : null;

    /// <summary>Adds a result, for which <see cref="WouldKeep"/> is true.</summary>
    /// <returns>The result that it displaces; null if none.</returns>
    public ScanHit? Add(ScanHit hit)
    {
        if (_lastFirst.Count < capacity)
        {
            _lastFirst.Enqueue(hit, hit);
            return null;
        }

        return _lastFirst.EnqueueDequeue(hit, hit);
    }

    /// <summary>
    /// Keeps a wanted result. Reserves its memory, and releases the memory of the result that it displaces.
    /// </summary>
    public void Keep(ScanHit hit, ScanMemory memory)
    {
        memory.Reserve(hit.Bytes);
        memory.Release(Add(hit)?.Bytes ?? 0);
    }

    /// <summary>Returns the results in order.</summary>
    public ScanHit[] InOrder() => Sort(keys, _lastFirst.UnorderedItems.Select(static item => item.Element));

    /// <summary>Sorts results.</summary>
    public static ScanHit[] Sort(SortKeys keys, IEnumerable<ScanHit> hits)
    {
        ScanHit[] sorted = [.. hits];
        Array.Sort(sorted, (one, other) => Compare(keys, one, other));
        return sorted;
    }

    // Entries of one document have the same ordinal, which is the document's etag. The third comparison orders them.
    private static int Compare(SortKeys keys, ScanHit one, ScanHit other)
    {
        if (keys.Compare(one.SortKey, other.SortKey) is var order && order != 0)
        {
            return order;
        }

        if (one.Ordinal != other.Ordinal)
        {
            return one.Ordinal.CompareTo(other.Ordinal);
        }

        return one.Entry.Entry.CompareTo(other.Entry.Entry);
    }
}
