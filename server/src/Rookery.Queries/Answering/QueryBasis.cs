namespace Rookery.Queries.Answering;

/// <summary>What the answer of a query rests on, once waiting is over.</summary>
/// <param name="IndexName">The index, as the answer names it.</param>
/// <param name="Answering">The index that answers; null when documents are looked at one by one.</param>
/// <param name="IsStale">Whether the index does not follow the documents through the moment at which the query
/// came.</param>
/// <param name="ResultEtag">The etag through which the answer follows the documents at least.</param>
/// <param name="Timestamp">When the index last took something; null when no index answers, or it took nothing since the
/// start.</param>
internal sealed record QueryBasis(
    string IndexName,
    string? Answering,
    bool IsStale,
    long ResultEtag,
    DateTimeOffset? Timestamp
);
