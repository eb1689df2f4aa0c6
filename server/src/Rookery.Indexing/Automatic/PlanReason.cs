namespace Rookery.Indexing.Automatic;

/// <summary>A reason why a query uses an index or does not.</summary>
/// <param name="Index">The name of the index; null for a scan of documents.</param>
/// <param name="Text">The reason in a sentence. If the subject is the index, the sentence leaves it out.</param>
/// <param name="IsChosen">Whether the query uses this index or, without an index, scans.</param>
public sealed record PlanReason(string? Index, string Text, bool IsChosen = false)
{
    /// <summary>Returns the reason of a query that scans documents.</summary>
    public static PlanReason OfDocuments(string text) => new(Index: null, text, IsChosen: true);
}
