using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;

namespace Rookery.Queries.Planning;

/// <summary>The choice of an index or a scan for a query, with reasons.</summary>
/// <param name="IndexName">The index that answers; null for a scan.</param>
/// <param name="ToDefine">The definition of the automatic index to create first; null if no index must be
/// created.</param>
/// <param name="IsBuilt">Whether the index can answer now. While it is being built, a scan answers instead, unless
/// <paramref name="IsScanExpensive"/>.</param>
/// <param name="IsScanExpensive">Whether a scan would be expensive, because scores need statistics of all documents.
/// The answer then waits longer for the index.</param>
/// <param name="Reasons">The reasons, for <c>explain</c>; empty if not wanted.</param>
public sealed record IndexChoice(
    string? IndexName,
    IAutoDefinition? ToDefine,
    bool IsBuilt,
    bool IsScanExpensive,
    IReadOnlyList<PlanReason> Reasons
)
{
    /// <summary>
    /// The index that would answer if it could hold all documents; null if there is none. It counts as used: otherwise
    /// it would be deleted, and the next query would build it again in vain.
    /// </summary>
    public string? UnheldIndex { get; init; }

    /// <summary>Returns the choice of a scan.</summary>
    /// <param name="reasons">The reasons, for <c>explain</c>; empty if not wanted.</param>
    internal static IndexChoice Scan(IReadOnlyList<PlanReason> reasons) =>
        new(IndexName: null, ToDefine: null, IsBuilt: false, IsScanExpensive: false, reasons);

    /// <summary>Returns this choice, or a scan if the node has no room for the new index.</summary>
    /// <param name="quota">The limit of indexes on this node.</param>
    internal IndexChoice Within(IndexQuota quota) =>
        ToDefine is null || quota.HasRoom(IndexPlace.Automatic)
            ? this
            : Scan([
                .. Reasons.Select(static reason => reason with { IsChosen = false }),
                PlanReason.OfDocuments($"Documents are scanned: {quota.Reason}"),
            ]);
}
