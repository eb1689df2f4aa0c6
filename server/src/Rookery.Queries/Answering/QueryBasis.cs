namespace Rookery.Queries.Answering;

/// <summary>
/// Where an answer comes from: an index, a read by ids, or a scan. Decided after the wait for an index.
/// </summary>
/// <param name="IndexName">The index name shown in the answer.</param>
/// <param name="SearchedIndex">The index to search; null to read documents by id or by a scan.</param>
/// <param name="IsStale">Whether the index lacks documents that were written before the query arrived.</param>
/// <param name="ResultEtag">The answer includes all writes through this etag.</param>
/// <param name="Timestamp">When the index last indexed a document; null if no index answers, or the index
/// indexed nothing since the node started.</param>
internal sealed record QueryBasis(
    string IndexName,
    string? SearchedIndex,
    bool IsStale,
    long ResultEtag,
    DateTimeOffset? Timestamp
)
{
    /// <summary>
    /// The basis of an answer that reads documents by id or by a scan. Such an answer is never stale.
    /// </summary>
    public static QueryBasis OfDocuments(string indexName, long resultEtag) =>
        new(indexName, SearchedIndex: null, IsStale: false, resultEtag, Timestamp: null);
}
