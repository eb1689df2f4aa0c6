using System.Globalization;
using Rookery.Documents.Ids;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Planning;

/// <summary>Chooses an automatic index or a scan for a query.</summary>
public static class IndexChooser
{
    /// <summary>
    /// Up to this number of documents, a scan is faster than the wait for an index, so the query scans. It still
    /// defines its index, because clients list the index, as in RavenDB, and later queries use it.
    /// </summary>
    public const long FewDocuments = 256;

    /// <summary>
    /// Maximum fields of an automatic index. A query with more fields is rare and seldom repeated, so an index for it
    /// would cost more than it saves.
    /// </summary>
    public const int MaxFields = 32;

    /// <summary>
    /// Maximum automatic map-reduce indexes of a database. Each has its own store, and a client with only read access
    /// can create one by a query.
    /// </summary>
    public const int MaxReduceIndexes = 16;

    /// <summary>Chooses for a query without groups.</summary>
    /// <param name="query">The query.</param>
    /// <param name="target">The documents that a scan would read.</param>
    /// <param name="countDocuments">Counts the documents of the query's source. Called only if the count
    /// decides.</param>
    /// <param name="candidates">The automatic indexes of the database.</param>
    /// <param name="explains">Whether reasons are wanted.</param>
    public static IndexChoice Choose(
        Query query,
        ScanTarget target,
        Func<long> countDocuments,
        IReadOnlyList<AutoCandidate<AutoIndexDefinition>> candidates,
        bool explains
    )
    {
        bool isScanExpensive = IsScanExpensive(query);
        if (!isScanExpensive && target.Ids is not null)
        {
            return Scan(explains ? "The query names ids: only these documents are read." : null);
        }
        if (!isScanExpensive && target.IdPrefix is not null)
        {
            return Scan(explains ? "The query names a prefix of ids: only these documents are read." : null);
        }

        if (AutoIndexNeeds.Of(query, out string? why) is not { } needed)
        {
            return Scan(explains ? $"Documents are scanned: {why}." : null);
        }

        if (needed.Fields.Count > MaxFields)
        {
            return Scan(
                explains
                    ? string.Create(
                        CultureInfo.InvariantCulture,
                        $"Documents are scanned: the query names {needed.Fields.Count} fields, and an "
                            + $"index is made for up to {MaxFields}."
                    )
                    : null
            );
        }

        var choice = AutoIndexChoice.For(needed, candidates, explains);
        if (choice.Name is null)
        {
            return IndexChoice.Scan(choice.Reasons);
        }

        var reasons =
            explains
            && choice.ToDefine is not null
            && !isScanExpensive
            && countDocuments() is <= FewDocuments and var few
                ? ScanMeanwhile(choice.Reasons, few)
                : choice.Reasons;
        var chosen = candidates.FirstOrDefault(candidate => IgnoredCase.OfNames.Equals(candidate.Name, choice.Name));
        bool isBuilt = chosen is { IsBuilt: true };
        return new IndexChoice(choice.Name, choice.ToDefine, isBuilt, isScanExpensive, reasons);
    }

    /// <summary>Chooses for a grouped query.</summary>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="countDocuments">Counts the documents of the query's source. Called only if the count
    /// decides.</param>
    /// <param name="candidates">The automatic map-reduce indexes of the database.</param>
    public static IndexChoice ChooseForGroups(
        CompiledQuery compiled,
        Func<long> countDocuments,
        IReadOnlyList<AutoCandidate<AutoReduceDefinition>> candidates
    )
    {
        if (compiled.Summary is not null)
        {
            return Scan("Documents are scanned: the query computes facets or suggestions from groups.");
        }

        var needed = AutoReduceDefinition.Of(compiled.Target.Collection, compiled.Groups!);
        int fields = needed.Keys.Count + needed.Aggregates.Count;
        if (fields > AutoReduceChoice.MaxFields)
        {
            return Scan(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Documents are scanned: the query names {fields} keys and aggregates, and an index of "
                        + $"groups is made for up to {AutoReduceChoice.MaxFields}."
                )
            );
        }

        var choice = AutoReduceChoice.For(needed, candidates);
        if (choice.Name is null)
        {
            return IndexChoice.Scan(choice.Reasons);
        }

        var reasons = choice.Reasons;
        if (choice.ToDefine is not null)
        {
            if (candidates.Count >= MaxReduceIndexes)
            {
                return Scan(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"Documents are scanned: there are {candidates.Count} automatic map/reduce indexes, and "
                            + $"no more are created. Unused ones are removed automatically."
                    )
                );
            }

            long documents = countDocuments();
            reasons = documents <= FewDocuments ? ScanMeanwhile(reasons, documents) : reasons;
        }

        var chosen = candidates.FirstOrDefault(candidate => IgnoredCase.OfNames.Equals(candidate.Name, choice.Name));
        bool isBuilt = chosen is { IsBuilt: true };
        return new IndexChoice(choice.Name, choice.ToDefine, isBuilt, IsScanExpensive: false, reasons);
    }

    /// <summary>
    /// Whether a scan for the query would be expensive, because the query is scored by words: a scan counts the words
    /// of all documents before it scores, so it reads all documents twice.
    /// </summary>
    internal static bool IsScanExpensive(Query query) => query.GroupBy.Count == 0 && Relevance.HasScores(query.Where);

    private static List<PlanReason> ScanMeanwhile(IReadOnlyList<PlanReason> reasons, long documents) =>
        [
            .. reasons.Select(static reason => reason with { IsChosen = false }),
            PlanReason.OfDocuments(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Documents are scanned until the new index is built: there are only {documents}."
                )
            ),
        ];

    private static IndexChoice Scan(string? reason) =>
        IndexChoice.Scan(reason is null ? [] : [PlanReason.OfDocuments(reason)]);
}
