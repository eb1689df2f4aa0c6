using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>The position of an entry in the order of a query: by sort key, then by etag, then by entry.</summary>
/// <param name="SortKey">The sort key; empty if the query does not sort.</param>
/// <param name="Etag">The etag of the entry's document.</param>
/// <param name="Entry">The entry's number in its segment. One segment has all entries of a document.</param>
internal sealed record OrderPosition(byte[] SortKey, long Etag, int Entry)
{
    /// <summary>Returns the position of an entry; null if its sort key is only in its document.</summary>
    /// <param name="found">The entry.</param>
    /// <param name="segment">The segment of the entry.</param>
    /// <param name="fields">The numbers of the indexed fields.</param>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="work">The answer's limits.</param>
    public static OrderPosition? Of(
        in FoundEntry found,
        LiveSegment segment,
        IndexedFields fields,
        CompiledQuery compiled,
        AnswerWork work
    )
    {
        if (compiled.Sort.IsEmpty)
        {
            return new OrderPosition([], found.Etag, found.Entry);
        }

        var conditions = new ConditionCursors(segment.Reader, fields, work);
        var sortKey = new PooledBytes();
        try
        {
            return
                SegmentSort.Open(compiled, segment.Reader, fields, conditions, work) is { } sort
                && sort.TryWrite(found.Entry, sortKey)
                ? new OrderPosition(sortKey.Written.ToArray(), found.Etag, found.Entry)
                : null;
        }
        finally
        {
            sortKey.Release();
        }
    }

    /// <summary>Returns whether this position comes before that of another entry.</summary>
    public bool IsBefore(ReadOnlySpan<byte> sortKey, long etag, int entry, SortKeys order)
    {
        int compared = SortKey.Length == 0 ? 0 : order.Compare(SortKey, sortKey);
        return compared != 0 ? compared < 0
            : Etag != etag ? Etag < etag
            : Entry < entry;
    }
}
