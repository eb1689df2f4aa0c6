using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>Refuses the parts of a query that need documents, if its results are computed instead.</summary>
internal static class PartsOfDocuments
{
    /// <summary>
    /// Refuses a selected counter if the results are groups, reduced rows or distinct, and an <c>include</c> of the
    /// results' counters if they are groups or reduced rows. For groups, also refuses an <c>include</c> of revisions,
    /// and an <c>include</c> by a member that the groups do not have.
    /// </summary>
    /// <exception cref="QueryException">The results do not have the part.</exception>
    public static void RefuseForGroups(Query query, RowSource? rows)
    {
        if (query.Select is FieldSelection selection && FindCounter(query) is { } counter)
        {
            QueryScripts.AliasOf(query, (SelectedCounter)counter.Source, counter.Position);
            bool isComputed = query.GroupBy.Count > 0 || rows is { IsReduced: true };
            if (selection.IsDistinct || isComputed)
            {
                throw new QueryException(
                    selection.IsDistinct ? QueryFault.NotSupported : QueryFault.Invalid,
                    selection.IsDistinct
                        ? "'counter()' in 'select distinct' is not supported by this version."
                        : "A computed result has no counters: select those of documents by a query of its own.",
                    counter.Position
                );
            }
        }

        if (
            rows is { IsReduced: true }
            && query.Includes.FirstOrDefault(static include => include is { Kind: IncludeKind.Counters, Path: null })
                is { } ofRows
        )
        {
            throw new QueryException(
                QueryFault.Invalid,
                "A reduced row has no counters. Include those of a document whose id is in the row: "
                    + "'include counters(field)'.",
                ofRows.Position
            );
        }

        RefuseIncludes(query);
    }

    /// <summary>Whether the query selects a counter.</summary>
    public static bool SelectsCounter(Query query) => FindCounter(query) is not null;

    private static SelectedField? FindCounter(Query query) =>
        query.Select is FieldSelection { Items: var items }
            ? items.FirstOrDefault(static item => item.Source is SelectedCounter)
            : null;

    private static void RefuseIncludes(Query query)
    {
        if (query.Includes.Count == 0 || query.GroupBy.Count == 0)
        {
            return;
        }

        if (query.Includes.FirstOrDefault(static include => include.Kind == IncludeKind.Revisions) is { } revisions)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "A group has no revisions. Include those of documents by a query of its own.",
                revisions.Position
            );
        }

        string[] names = MembersOfComputedResults(query);
        foreach (
            var include in query.Includes.Where(static include =>
                include.Kind is IncludeKind.Documents or IncludeKind.CompareExchange or IncludeKind.Counters
            )
        )
        {
            if (include.Path is null)
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    "A group has no counters. Include those of a document whose id is a key of the group: "
                        + "'include counters(key)'.",
                    include.Position
                );
            }

            if (!names.Contains(include.Path.Split('.', '[')[0], StringComparer.Ordinal))
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'include {include.Path}' names no member of the groups, "
                        + $"which have '{string.Join("', '", names)}'. "
                        + "Select the id by a name without dots, and include that name.",
                    include.Position
                );
            }
        }
    }

    private static string[] MembersOfComputedResults(Query query) =>
        query.Select is FieldSelection { Items: { Count: > 0 } items }
            ? [.. items.Select(Projection.NameOf)]
            : [.. query.GroupBy.Select(static key => key.Alias ?? key.Path.ToString())];
}
