namespace Rookery.Queries.Scanning;

/// <summary>An index entry that is a result or a candidate.</summary>
/// <param name="Etag">The etag of the document that the entry was built from.</param>
/// <param name="Segment">The position of its segment in the snapshot.</param>
/// <param name="Entry">Its number in the segment.</param>
/// <param name="Score">Its score; null if the order has no score.</param>
/// <param name="Id">The position of its id in <c>KeptIds</c>; <see cref="NoId"/> if the id must be read from the
/// index.</param>
internal readonly record struct FoundEntry(
    long Etag,
    int Segment,
    int Entry,
    double? Score = null,
    int Id = FoundEntry.NoId
)
{
    /// <summary>The id is not kept in memory.</summary>
    public const int NoId = -1;
}
