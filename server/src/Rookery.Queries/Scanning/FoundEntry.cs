namespace Rookery.Queries.Scanning;

/// <summary>An entry that is a result, or may be one.</summary>
/// <param name="Etag">The version of the document that it was made from.</param>
/// <param name="Segment">Its segment's place in the snapshot.</param>
/// <param name="Entry">Its place in the segment.</param>
/// <param name="Score">How relevant it is; null where the order does not ask for that.</param>
/// <param name="Id">Where its id is kept; <see cref="Nowhere"/> where only the index has it.</param>
internal readonly record struct FoundEntry(
    long Etag,
    int Segment,
    int Entry,
    double? Score = null,
    int Id = FoundEntry.Nowhere
)
{
    /// <summary>No place: the id is not kept.</summary>
    public const int Nowhere = -1;
}
