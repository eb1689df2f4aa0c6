namespace Rookery.Queries.Scanning;

/// <summary>The first of many results, as many as are wanted. For one thread.</summary>
/// <param name="keys">The order.</param>
/// <param name="capacity">How many are wanted.</param>
internal sealed class HitHeap(SortKeys keys, long capacity)
{
    private readonly PriorityQueue<ScanHit, ScanHit> _lastFirst = new(
        Comparer<ScanHit>.Create((one, other) => Compare(keys, other, one))
    );

    /// <summary>Whether a result with this key would stay.</summary>
    /// <param name="sortKey">What it is sorted by.</param>
    /// <param name="ordinal">Its place among equal ones.</param>
    public bool Wants(ReadOnlySpan<byte> sortKey, long ordinal) =>
        _lastFirst.Count < capacity
        || (
            capacity > 0
            && keys.Compare(sortKey, _lastFirst.Peek().SortKey) is var order
            && (order < 0 || (order == 0 && ordinal < _lastFirst.Peek().Ordinal))
        );

    /// <summary>The last of as many results as are wanted; null while there are fewer.</summary>
    public ScanHit? Last => capacity > 0 && _lastFirst.Count >= capacity ? _lastFirst.Peek() : null;

    /// <summary>Keeps a wanted result.</summary>
    /// <returns>The one that is not wanted any more, or null.</returns>
    public ScanHit? Add(ScanHit hit)
    {
        if (_lastFirst.Count < capacity)
        {
            _lastFirst.Enqueue(hit, hit);
            return null;
        }

        return _lastFirst.EnqueueDequeue(hit, hit);
    }

    /// <summary>The results in their order.</summary>
    public ScanHit[] InOrder() => Sort(keys, _lastFirst.UnorderedItems.Select(static item => item.Element));

    /// <summary>Puts results in their order.</summary>
    public static ScanHit[] Sort(SortKeys keys, IEnumerable<ScanHit> hits)
    {
        ScanHit[] sorted = [.. hits];
        Array.Sort(sorted, (one, other) => Compare(keys, one, other));
        return sorted;
    }

    // Entries of one document have one etag.
    private static int Compare(SortKeys keys, ScanHit one, ScanHit other) =>
        keys.Compare(one.SortKey, other.SortKey) is var order && order != 0 ? order
        : one.Ordinal != other.Ordinal ? one.Ordinal.CompareTo(other.Ordinal)
        : one.Place.Entry.CompareTo(other.Place.Entry);
}
