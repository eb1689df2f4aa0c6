using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// The first of many entries of one segment, as many as are wanted, compared by the ranks of their values: a key is
/// read only where ranks are equal and a further one of <c>order by</c> has none, and of those that are left. For one
/// thread.
/// </summary>
/// <param name="keys">The order.</param>
/// <param name="sort">Of the segment; its first column has ranks.</param>
/// <param name="documents">Etags of the segment.</param>
/// <param name="capacity">How many are wanted, at least one.</param>
/// <param name="sortKey">Room for a key.</param>
internal sealed class RankedEntries(
    SortKeys keys,
    SegmentSort sort,
    DocumentTable documents,
    int capacity,
    PooledBytes sortKey
)
{
    /// <summary>Memory of one, and of its place in the queue.</summary>
    public const int EntryBytes = 80;

    private readonly PriorityQueue<RankedEntry, RankedEntry> _lastFirst = new(
        Comparer<RankedEntry>.Create((one, other) => Compare(keys, sort, documents, sortKey, other, one))
    );
    private readonly bool _isDescending = keys.Keys[0].IsDescending;
    private RankedEntry? _spare;
    private long _lastRank;

    /// <summary>Whether there are as many as are wanted.</summary>
    public bool IsFull => _lastFirst.Count >= capacity;

    /// <summary>Whether an entry may be among the first, by the rank of its first value alone.</summary>
    /// <param name="rank">That rank.</param>
    public bool MayWant(long rank) =>
        _lastFirst.Count < capacity || (_isDescending ? rank >= _lastRank : rank <= _lastRank);

    /// <summary>Takes an entry that may be among the first.</summary>
    /// <returns>False where only documents say in which order they are.</returns>
    public bool TryAdd(int entry, long rank)
    {
        var added = _spare ?? new RankedEntry();
        sort.Forget(added);
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
        return !sort.LacksDocument;
    }

    /// <summary>The entries in their order.</summary>
    public RankedEntry[] InOrder()
    {
        RankedEntry[] sorted = [.. _lastFirst.UnorderedItems.Select(static item => item.Element)];
        Array.Sort(sorted, (one, other) => Compare(keys, sort, documents, sortKey, one, other));
        return sorted;
    }

    /// <summary>Which of two entries comes first.</summary>
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
            // Nobody takes the order where only the document says what an entry is sorted by; it is one all the same,
            // because sorting throws where there is none.
            bool hasKey = sort.TryRead(one, sortKey);
            bool otherHasKey = sort.TryRead(other, sortKey);
            order = hasKey && otherHasKey ? keys.Compare(one.SortKey, other.SortKey) : hasKey.CompareTo(otherHasKey);
        }

        return order != 0 ? order
            : EtagOf(documents, one) is var etag && EtagOf(documents, other) is var otherEtag && etag != otherEtag
                ? etag.CompareTo(otherEtag)
            : one.Entry.CompareTo(other.Entry);
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

/// <summary>An entry that is compared by rank.</summary>
internal sealed class RankedEntry
{
    public int Entry { get; set; }

    /// <summary>Of its value of the first key.</summary>
    public long Rank { get; set; }

    /// <summary>Its etag; -1 until it is asked for.</summary>
    public long Etag { get; set; }

    /// <summary>What it is sorted by; null until it is asked for.</summary>
    public byte[]? SortKey { get; set; }
}
