using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// Keeps the first entries of one segment in the query's order, up to a number. Compares entries by the ranks of their
/// values. Reads values only for kept entries at the end, and where ranks are equal and a later key of <c>order by</c>
/// has no ranks. Not thread-safe.
/// </summary>
/// <param name="keys">The sort keys of the query.</param>
/// <param name="sort">The segment's sort columns, of which the first has ranks.</param>
/// <param name="documents">The etags of the segment.</param>
/// <param name="capacity">Number of entries to keep, at least 1.</param>
/// <param name="sortKey">Buffer for a sort key.</param>
internal sealed class RankedEntries(
    SortKeys keys,
    SegmentSort sort,
    DocumentTable documents,
    int capacity,
    PooledBytes sortKey
)
{
    /// <summary>Estimated memory of one entry and its queue item.</summary>
    public const int EntryBytes = 80;

    private readonly PriorityQueue<RankedEntry, RankedEntry> _lastFirst = new(
        Comparer<RankedEntry>.Create((one, other) => Compare(keys, sort, documents, sortKey, other, one))
    );
    private readonly bool _isDescending = keys.Keys[0].IsDescending;
    private RankedEntry? _spare;
    private long _lastRank;

    /// <summary>Whether the capacity is reached.</summary>
    public bool IsFull => _lastFirst.Count >= capacity;

    /// <summary>Returns whether an entry with this rank may be kept.</summary>
    /// <param name="rank">The entry's rank in the first column.</param>
    public bool MayKeep(long rank) =>
        _lastFirst.Count < capacity || (_isDescending ? rank >= _lastRank : rank <= _lastRank);

    /// <summary>Adds an entry that may be kept.</summary>
    /// <returns>False if the order depends on a value that only the document has.</returns>
    public bool TryAdd(int entry, long rank)
    {
        var added = _spare ?? new RankedEntry();
        sort.ReleaseKey(added);
        (added.Entry, added.Rank, added.Etag) = (entry, rank, -1);
        _spare = null;
        if (_lastFirst.Count < capacity)
        {
            _lastFirst.Enqueue(added, added);
        }
        else
        {
            _spare = _lastFirst.EnqueueDequeue(added, added);
        }

        _lastRank = _lastFirst.Peek().Rank;
        return !sort.NeedsDocument;
    }

    /// <summary>Returns the entries in order.</summary>
    public RankedEntry[] InOrder()
    {
        RankedEntry[] sorted = [.. _lastFirst.UnorderedItems.Select(static item => item.Element)];
        Array.Sort(sorted, (one, other) => Compare(keys, sort, documents, sortKey, one, other));
        return sorted;
    }

    /// <summary>Compares two entries by the order, then by etag.</summary>
    internal static int Compare(
        SortKeys keys,
        SegmentSort sort,
        DocumentTable documents,
        PooledBytes sortKey,
        RankedEntry one,
        RankedEntry other
    )
    {
        int order = one.Rank.CompareTo(other.Rank);
        for (int column = 0; order == 0 && ++column < sort.RankedColumns; )
        {
            order = sort.Rank(column, one.Entry).CompareTo(sort.Rank(column, other.Entry));
            if (order != 0)
            {
                return keys.Keys[column].IsDescending ? -order : order;
            }
        }

        if (order != 0)
        {
            return keys.Keys[0].IsDescending ? -order : order;
        }

        if (sort.RankedColumns < keys.Keys.Length)
        {
            // If a key cannot be read, the caller discards the result (NeedsDocument). The comparison must be
            // consistent nevertheless, or Array.Sort may throw.
            bool hasKey = sort.TryRead(one, sortKey);
            bool otherHasKey = sort.TryRead(other, sortKey);
            order = hasKey && otherHasKey ? keys.Compare(one.SortKey, other.SortKey) : hasKey.CompareTo(otherHasKey);
        }

        if (order != 0)
        {
            return order;
        }

        long etag = EtagOf(documents, one);
        long otherEtag = EtagOf(documents, other);
        if (etag != otherEtag)
        {
            return etag.CompareTo(otherEtag);
        }

        return one.Entry.CompareTo(other.Entry);
    }

    private static long EtagOf(DocumentTable documents, RankedEntry ranked)
    {
        if (ranked.Etag < 0)
        {
            documents.Read(ranked.Entry, out long etag);
            ranked.Etag = etag;
        }

        return ranked.Etag;
    }
}

/// <summary>An entry with its rank.</summary>
internal sealed class RankedEntry
{
    public int Entry { get; set; }

    /// <summary>The rank of its value in the first column.</summary>
    public long Rank { get; set; }

    /// <summary>Its etag; -1 until it is read.</summary>
    public long Etag { get; set; }

    /// <summary>Its sort key; null until it is read.</summary>
    public byte[]? SortKey { get; set; }
}
