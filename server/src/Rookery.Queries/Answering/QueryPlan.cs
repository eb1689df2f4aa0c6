using System.Globalization;
using Rookery.Documents.Databases;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// How one query is answered, once: its tree with parameters, compiled for a scan, the index that it names, and the
/// page. Holds memory until it is disposed.
/// </summary>
public sealed class QueryPlan : IDisposable
{
    private FullTextConditions? _fullText;
    private string? _indexName;

    private QueryPlan() { }

    /// <summary>What is asked.</summary>
    public required Query Query { get; init; }

    /// <summary>
    /// The page of documents that are the results as they are, when nothing but ids narrows them; null when documents
    /// have to be looked into.
    /// </summary>
    internal IdQuery? Direct { get; private init; }

    /// <summary>How documents, or what an index holds of them, are looked into; null when they need not be.</summary>
    public ScanPlan? Scan { get; private init; }

    /// <summary>Paths of ids to include.</summary>
    public IReadOnlyList<string> Includes { get; private init; } = [];

    /// <summary>Whether the answer says how long its parts took.</summary>
    public bool HasTimings { get; private init; }

    /// <summary>The index that the query names; null when it names none.</summary>
    internal NamedIndex? Named { get; private init; }

    /// <summary>
    /// By which definition the static index answers that the query names, which changes while no document does; 0 when
    /// it names none.
    /// </summary>
    public long DefinitionNumber => Named?.Rows?.Number ?? 0;

    /// <summary>
    /// Plans it again, because the index that it names answers by another definition now; null when it names no such
    /// one.
    /// </summary>
    internal Func<QueryPlan>? Again { get; private init; }

    /// <summary>
    /// How long to wait for an index that is behind, after which the query is refused; null when an answer that is
    /// stale will do.
    /// </summary>
    internal TimeSpan? Wait { get; private init; }

    /// <summary>The index name in the answer, as RavenDB would give it.</summary>
    public string IndexName
    {
        get => _indexName ??= Named?.Name ?? AutomaticIndexName.Of(Query);
        private init => _indexName = value;
    }

    /// <summary>
    /// Whether its results are changed or deleted. Runs after the response, a few at a time.
    /// </summary>
    internal bool IsChange { get; private init; }

    /// <summary>How long it may work in all.</summary>
    internal TimeSpan WorkLimit => IsChange ? TimeSpan.MaxValue : QueryTurns.Budget;

    /// <summary>Reads the text of a query, and plans it.</summary>
    /// <param name="request">The query.</param>
    /// <param name="database">Where set-ups are stored that it names.</param>
    /// <param name="indexes">Knows the index that it names.</param>
    /// <exception cref="QueryException">It is no query, one that this version does not have, or of an index that there
    /// is not.</exception>
    internal static QueryPlan Read(QueryRequest request, Database database, IndexedQueries indexes) =>
        Of(ParsedQueries.Read(request.Text), request, database, indexes, isChange: false);

    /// <summary>
    /// Plans a query whose results are to be changed or deleted: they are documents, and as many as there are. It works
    /// as long as it takes.
    /// </summary>
    /// <param name="query">The query, read.</param>
    /// <param name="request">How it came.</param>
    /// <param name="database">Where the documents are.</param>
    /// <param name="indexes">Knows the index that it names.</param>
    /// <param name="wait">How long to wait for an index that is behind; null when a stale one will do.</param>
    /// <exception cref="QueryException">It is one that this version does not have, that cannot be meant, or of an index
    /// that there is not.</exception>
    internal static QueryPlan ReadForChange(
        Query query,
        QueryRequest request,
        Database database,
        IndexedQueries indexes,
        TimeSpan? wait
    )
    {
        string? refused =
            query.Select is not null ? "select"
            : query.GroupBy.Count > 0 ? "group by"
            : query.Includes.Count > 0 ? "include"
            : null;
        if (refused is not null)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{refused}' has no meaning where documents are changed or deleted by a query."
            );
        }

        return Of(
            query with
            {
                Update = null,
                Loads = [],
            },
            request with
            {
                Wait = wait,
            },
            database,
            indexes,
            isChange: true
        );
    }

    /// <summary>Gives memory back.</summary>
    public void Dispose() => _fullText?.Dispose();

    // Changing a document moves it to the end of its collection; the walk must not meet it again. A scan sees to that,
    // a plain walk does not.
    private static QueryPlan Of(
        Query written,
        QueryRequest request,
        Database database,
        IndexedQueries indexes,
        bool isChange
    )
    {
        var parameters = QueryParameters.Read(request.Parameters);
        var query = StoredSetups.Fill(written, parameters, database);
        var named = query.Source.Kind == SourceKind.Index ? NamedIndex.Find(database, indexes, query.Source) : null;
        if (isChange && named is { Rows.IsReduced: true })
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The results of '{named.Name}' are reduced rows, and no documents that could be changed or deleted.",
                query.Source.Position
            );
        }

        query = named is null ? query : query.From(named.SourceOf(query.Source));
        if (query.Update is { } update)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'update' changes documents, and a query only asks: send it by PATCH to queries, or use "
                    + "`rookery patch`.",
                update.Position - 1
            );
        }

        var operands = new OperandValues(parameters);
        long writtenOffset = operands.Count(query.Offset, "offset") ?? 0;
        long? writtenLimit = operands.Count(query.Limit, "limit");
        long offset = Math.Max(writtenOffset, request.Start); // client 5.4 sends both, and means the same
        long? limit =
            writtenLimit is { } asked ? Math.Min(asked, request.PageSize)
            : request.PageSize == long.MaxValue ? null
            : request.PageSize;
        IReadOnlyList<string> includes = query.Includes.Count == 0 ? [] : ReadIncludes(query);
        bool hasTimings =
            request.IncludesTimings
            || (query.Includes.Count > 0 && query.Includes.Any(static include => include.Kind == IncludeKind.Timings));
        if (named is null && !isChange && TryReadDirect(query, operands, out var condition))
        {
            var direct = new IdQuery
            {
                Collection = query.Source.Kind == SourceKind.Collection ? query.Source.Name : null,
                Condition = condition,
                Offset = offset,
                Limit = limit,
            };
            return new QueryPlan
            {
                Query = query,
                Direct = direct,
                Includes = includes,
                HasTimings = hasTimings,
                IndexName = CollectionName(query.Source),
            };
        }

        var paged =
            offset == writtenOffset && limit == writtenLimit
                ? query
                : query with
                {
                    Offset = Number(offset, query.Offset),
                    Limit = limit is { } most ? Number(most, query.Limit) : null,
                };
        paged =
            request.Projecting == ProjectionBehavior.Default ? paged : paged with { Projecting = request.Projecting };
        var fullText = new FullTextConditions(
            named?.Rows is { } rows ? rows.AnalyzerOf : static _ => IndexedQueries.Analyzer,
            named?.Rows?.WordFields
        );
        try
        {
            return new QueryPlan
            {
                Query = query,
                Scan = ScanPlan.Compile(paged, parameters, fullText, named?.Rows),
                Includes = includes,
                HasTimings = hasTimings,
                Named = named,
                Again = named?.Rows is null ? null : () => Of(written, request, database, indexes, isChange),
                Wait = request.Wait,
                IsChange = isChange,
                _fullText = fullText,
            };
        }
        catch
        {
            fullText.Dispose();
            throw;
        }
    }

    private static bool TryReadDirect(Query query, OperandValues operands, out IdCondition? condition)
    {
        condition = null;
        return (
                query.Includes.Count == 0
                || !query.Includes.Any(static include =>
                    include.Kind is IncludeKind.Highlight or IncludeKind.Explanations
                )
            )
            && query
                is { Filter: null, FilterLimit: null, Select: null, GroupBy.Count: 0, OrderBy.Count: 0, Loads.Count: 0 }
            && (query.Where is null || (condition = IdCondition.TryRead(query.Where, operands)) is not null);
    }

    private static NumberOperand Number(long count, Operand? written) =>
        new(count.ToString(CultureInfo.InvariantCulture), written?.Position ?? 0);

    private static string CollectionName(Source source) =>
        source.Kind == SourceKind.Collection ? "collection/" + source.Name : "AllDocs";

    private static List<string> ReadIncludes(Query query)
    {
        var paths = new List<string>(query.Includes.Count);
        paths.AddRange(
            query
                .Includes.Where(static include => include.Kind == IncludeKind.Documents)
                .Select(static include => include.Path!)
        );
        return paths;
    }
}
