using Rookery.Queries.Answering;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Subscriptions;

/// <summary>
/// The compiled query of a data subscription: which documents it selects, and what is sent of them. Parts that cannot
/// be evaluated for one document alone are refused by name. Only one <see cref="SubscriptionRun"/> at a time may use
/// the criteria.
/// </summary>
public sealed class SubscriptionCriteria
{
    private SubscriptionCriteria(Query query, CriterionNode? where, CompiledQuery compiled)
    {
        Collection = query.Source.Kind == SourceKind.AllDocuments ? null : query.Source.Name;
        OfRevisions = query.Source.OfRevisions;
        Where = where;
        Compiled = compiled;
        Includes =
        [
            .. query
                .Includes.Where(static include => include.Kind == IncludeKind.Documents)
                .Select(static include => include.Path!),
        ];
        IncludedCounters = Answering.IncludedCounters.Read(query, new OperandValues(QueryParameters.None));
    }

    /// <summary>The collection of the documents; null for all documents.</summary>
    public string? Collection { get; }

    /// <summary>
    /// Whether the subscription selects revisions, each with the one before it, and not documents. The query sees
    /// <c>Current</c> and <c>Previous</c>.
    /// </summary>
    public bool OfRevisions { get; }

    /// <summary>Paths of the ids of documents that each batch includes.</summary>
    public IReadOnlyList<string> Includes { get; }

    /// <summary>The counters that each batch includes.</summary>
    public IReadOnlyList<IncludedCounters> IncludedCounters { get; }

    /// <summary>Whether whole documents are sent; otherwise what <c>select</c> computes from them.</summary>
    public bool SendsDocuments => Compiled.ReturnsDocuments;

    /// <summary>The condition; null if all documents of the collection match.</summary>
    internal CriterionNode? Where { get; }

    /// <summary>The query without its condition: its selection is used.</summary>
    internal CompiledQuery Compiled { get; }

    /// <summary>Compiles the query of a subscription.</summary>
    /// <exception cref="QueryException">The text is not a query, or cannot be evaluated for one document.</exception>
    public static SubscriptionCriteria Compile(string text)
    {
        var query = RqlParser.ParseCriteria(text);
        RefuseUnsupported(query);
        var where = query.Where is null ? null : CriterionNode.Of(query, query.Where);
        var compiled = CompiledQuery.Compile(
            query with
            {
                Where = null,
                Includes = [],
                CoveringIndexes = null,
            },
            QueryParameters.None
        );
        if (compiled.Script is { } script)
        {
            QueryScripts.RefuseOutsideQueries(script.Program, script.Position);
        }

        return new SubscriptionCriteria(query, where, compiled);
    }

    private static void RefuseUnsupported(Query query)
    {
        if (query.Source.Kind == SourceKind.Index)
        {
            throw Refusal("from index", query.Source.Position);
        }

        if (
            query.Source.OfRevisions
            && query.Includes.FirstOrDefault(static include => include.Kind == IncludeKind.Counters) is { } counters
        )
        {
            throw Refusal("include counters() of revisions", counters.Position);
        }

        var (clause, position) = query switch
        {
            { GroupBy: [var key, ..] } => ("group by", key.Path.Position),
            { OrderBy: [var order, ..] } => ("order by", order.Position),
            { Filter: { } filter } => ("filter", filter.Position),
            { Limit: { } limit } => ("limit", limit.Position),
            { Offset: { } offset } => ("offset", offset.Position),
            { Update: { } update } => ("update", update.Position),
            { Select: FieldSelection { IsDistinct: true } } => ("select distinct", 0),
            { Select: FieldSelection { Items: var items } }
                when items.FirstOrDefault(static item => item.Source is SelectedCounter) is { } counter => (
                "counter()",
                counter.Position
            ),
            { Select: FieldSelection { Items: [{ Source: SelectedFacet or SelectedSuggestion } item, ..] } } => (
                "select of facets or suggestions",
                item.Position
            ),
            _ => (null, 0),
        };
        if (clause is not null)
        {
            throw Refusal(clause, position);
        }

        if (
            query.Includes.FirstOrDefault(static include =>
                include is { Kind: IncludeKind.Counters, Path: not null }
            ) is
            { } ofOthers
        )
        {
            throw Refusal($"include counters({ofOthers.Path})", ofOthers.Position);
        }

        if (
            query.Includes.FirstOrDefault(static include =>
                include.Kind is not (IncludeKind.Documents or IncludeKind.Counters)
            ) is
            { } included
        )
        {
            throw Refusal(
                $"include {included.Kind switch
            {
                IncludeKind.CompareExchange => "cmpxchg()",
                IncludeKind.Revisions => "revisions()",
                IncludeKind.Timings => "timings()",
                IncludeKind.Explanations => "explanations()",
                _ => "highlight()",
            }}",
                included.Position
            );
        }
    }

    private static QueryException Refusal(string part, int position) =>
        new(
            QueryFault.NotSupported,
            $"'{part}' is not supported in the query of a subscription, which is evaluated for each document alone: it "
                + "consists of 'from', 'where', 'load', 'select' and 'include'.",
            position
        );
}
