using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;

namespace Rookery.Queries.Planning;

/// <summary>Which index answers a query, if any does, and why.</summary>
/// <param name="IndexName">The index that answers; null when documents are looked at one by one.</param>
/// <param name="ToDefine">The definition of that index, when there is none yet and it has to be made; null
/// otherwise.</param>
/// <param name="IsBuilt">Whether the index can answer. While it is built, looking at documents answers in its place,
/// but not where <paramref name="NeedsIndex"/>.</param>
/// <param name="NeedsIndex">Whether nothing but an index answers: relevance needs to know of all documents.</param>
/// <param name="Reasons">Why this way, for <c>explain</c>; none where nobody asked.</param>
public sealed record IndexChoice(
    string? IndexName,
    IAutoDefinition? ToDefine,
    bool IsBuilt,
    bool NeedsIndex,
    IReadOnlyList<PlanReason> Reasons
)
{
    /// <summary>
    /// The choice as far as the node has room for indexes: documents are looked at where a new index would be one too
    /// many.
    /// </summary>
    /// <param name="quota">How many indexes the node keeps.</param>
    internal IndexChoice Within(IndexQuota quota) =>
        ToDefine is null || quota.HasRoom(IndexPlace.Automatic)
            ? this
            : new IndexChoice(
                null,
                null,
                IsBuilt: false,
                NeedsIndex: false,
                [
                    .. Reasons.Select(static reason => reason with { IsChosen = false }),
                    PlanReason.OfDocuments($"Documents are looked at: {quota.Reason}"),
                ]
            );
}
