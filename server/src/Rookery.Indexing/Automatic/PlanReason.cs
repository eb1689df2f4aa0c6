namespace Rookery.Indexing.Automatic;

/// <summary>Why a query is answered by an index, or not by it.</summary>
/// <param name="Index">The index; null for looking at documents.</param>
/// <param name="Text">A sentence about it.</param>
/// <param name="IsChosen">Whether that is how the query is answered.</param>
public sealed record PlanReason(string? Index, string Text, bool IsChosen = false)
{
    /// <summary>The reason of a query for which documents are looked at.</summary>
    public static PlanReason OfDocuments(string text) => new(null, text, IsChosen: true);
}
