using System.Globalization;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// The plan of one answer: the query's tree, the compiled query with parameters filled in, the named index, and the
/// page. Holds memory until it is disposed.
/// </summary>
public sealed class QueryPlan : IDisposable
{
    private FullTextConditions? _fullText;
    private string? _indexName;

    private QueryPlan() { }

    /// <summary>The tree of the query.</summary>
    public required Query Query { get; init; }

    /// <summary>
    /// The page of documents to read, if the collection and ids alone decide the results; null if documents have to be
    /// evaluated.
    /// </summary>
    internal DocumentSelection? DirectRead { get; private init; }

    /// <summary>
    /// The compiled query: predicate, sort, projection, aggregates. Null if <see cref="DirectRead"/> is set.
    /// </summary>
    public CompiledQuery? Compiled { get; private init; }

    /// <summary>Paths of the ids of documents to include.</summary>
    public IReadOnlyList<string> Includes { get; private init; } = [];

    /// <summary>Paths of the keys of compare-exchange values to include.</summary>
    public IReadOnlyList<string> IncludedValues { get; private init; } = [];

    /// <summary>The counters to include, each path once.</summary>
    public IReadOnlyList<IncludedCounters> IncludedCounters { get; private init; } = [];

    /// <summary>The revisions to include, each as the path of a change vector or as a time.</summary>
    public IReadOnlyList<string> IncludedRevisions { get; private init; } = [];

    /// <summary>Whether the answer includes something that the results name.</summary>
    public bool HasReferences =>
        Includes.Count + IncludedValues.Count + IncludedCounters.Count + IncludedRevisions.Count > 0
        || HasScriptedIncludes;

    /// <summary>Whether the script of the selection adds documents or compare-exchange values to the answer.</summary>
    public bool HasScriptedIncludes =>
        Compiled?.Script?.Program is { } program && (program.IncludesDocuments || program.IncludesCompareExchange);

    /// <summary>
    /// Whether the answer reads rows whose writes change no document: compare-exchange values, counters or revisions.
    /// </summary>
    internal bool ReadsMoreThanDocuments =>
        IncludedValues.Count + IncludedCounters.Count + IncludedRevisions.Count > 0
        || Compiled is { SelectsCounters: true }
        || Compiled?.Script?.Program is { ReadsCounters: true } or { IncludesCompareExchange: true };

    /// <summary>
    /// Whether the plan contains data that was read when the query was planned: compare-exchange values in conditions,
    /// a facet setup, or stop words. The answer's snapshot may be newer than this data.
    /// </summary>
    public bool ContainsStoredData { get; private init; }

    /// <summary>Whether the answer reports how long its parts took.</summary>
    public bool HasTimings { get; private init; }

    /// <summary>The index that the query names; null when it names none.</summary>
    internal NamedIndex? NamedIndex { get; private init; }

    /// <summary>
    /// The number of the named static index's definition; 0 if the query names no static index. A new definition
    /// changes the answer although no document changed.
    /// </summary>
    public long DefinitionNumber => NamedIndex?.Rows?.DefinitionNumber ?? 0;

    /// <summary>
    /// Plans the query again after the definition of the named static index changed; null if the query names no static
    /// index.
    /// </summary>
    internal Func<QueryPlan>? Replan { get; private init; }

    /// <summary>
    /// How long to wait for a lagging index before the query is refused; null if a stale answer is acceptable.
    /// </summary>
    internal TimeSpan? Wait { get; private init; }

    /// <summary>The index name shown in the answer, as RavenDB would show it.</summary>
    public string IndexName
    {
        get => _indexName ??= NamedIndex?.Name ?? AutomaticIndexName.Of(Query);
        private init => _indexName = value;
    }

    /// <summary>
    /// Whether the query's results are patched or deleted. Such a query runs in the background after the response.
    /// </summary>
    internal bool IsChange { get; private init; }

    /// <summary>Total time that the query may work.</summary>
    internal TimeSpan WorkLimit => IsChange ? TimeSpan.MaxValue : QueryTimeSlices.MaxWork;

    /// <summary>Parses the text of a query, and plans it.</summary>
    /// <param name="request">The query.</param>
    /// <param name="database">The queried database, which also stores the facet setups that the query names.</param>
    /// <param name="indexes">Finds the index that the query names.</param>
    /// <exception cref="QueryException">The text is not a query, the query needs a feature that this version lacks, or
    /// the named index does not exist.</exception>
    internal static QueryPlan Read(QueryRequest request, Database database, IndexedQueries indexes) =>
        Create(ParsedQueries.Read(request.Text), request, database, indexes, isChange: false);

    /// <summary>
    /// Plans a query whose results are patched or deleted. The results are all matching documents, not parts of them.
    /// The query has no time limit.
    /// </summary>
    /// <param name="query">The parsed query.</param>
    /// <param name="request">The request that contained the query.</param>
    /// <param name="database">The queried database.</param>
    /// <param name="indexes">Finds the index that the query names.</param>
    /// <param name="wait">How long to wait for a lagging index before the query is refused; null if a stale answer is
    /// acceptable.</param>
    /// <exception cref="QueryException">The query needs a feature that this version lacks, has a clause that makes no
    /// sense for a change, or names an index that does not exist.</exception>
    internal static QueryPlan ReadForChange(
        Query query,
        QueryRequest request,
        Database database,
        IndexedQueries indexes,
        TimeSpan? wait
    )
    {
        string? refusedClause =
            query.Select is not null ? "select"
            : query.GroupBy.Count > 0 ? "group by"
            : query.Includes.Count > 0 ? "include"
            : null;
        if (refusedClause is not null)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{refusedClause}' has no meaning where documents are changed or deleted by a query."
            );
        }

        return Create(
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

    /// <summary>Releases memory.</summary>
    public void Dispose() => _fullText?.Dispose();

    /// <summary>Reserves what the conditions hold in the memory of an answer.</summary>
    /// <param name="memory">The memory; null to release it. Also released when this is disposed.</param>
    /// <exception cref="QueryException">The query exceeds its memory.</exception>
    internal void UseMemory(QueryMemory? memory) => _fullText?.UseMemory(memory);

    private static QueryPlan Create(
        Query written,
        QueryRequest request,
        Database database,
        IndexedQueries indexes,
        bool isChange
    )
    {
        RefuseLongName(written.Source);
        using var values = new PlannedValues(database);
        var parameters = QueryParameters.Read(request.Parameters, values.Read);
        var query = StoredFacetSetups.Inline(written, parameters, database);
        bool hasReadDocuments = !ReferenceEquals(query, written);
        var named = query.Source.Kind == SourceKind.Index ? NamedIndex.Find(database, indexes, query.Source) : null;
        if (isChange && named is { Rows.IsReduced: true })
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The results of '{named.Name}' are reduced rows, not documents, so they cannot be changed or deleted.",
                query.Source.Position
            );
        }

        if (named is not null)
        {
            query = query.From(named.SourceOf(query.Source));
        }

        if (named?.Rows is { Definition.Factors.Count: > 0 } boosting)
        {
            query = query with { Where = BoostedFields.Apply(query.Where, boosting) };
        }
        RefuseUpdate(query);

        var operands = new OperandValues(parameters);
        long writtenOffset = operands.ReadCount(query.Offset, "offset") ?? 0;
        long? writtenLimit = operands.ReadCount(query.Limit, "limit");
        long offset = Math.Max(writtenOffset, request.Start); // RavenDB's client 5.4 sends both offsets
        long? limit = SmallerLimit(writtenLimit, request.PageSize);
        var includes = PathsOf(query, IncludeKind.Documents);
        var includedValues = PathsOf(query, IncludeKind.CompareExchange);
        var includedCounters = Answering.IncludedCounters.Read(query, operands);
        string[] includedRevisions =
        [
            .. query
                .Includes.Where(static include => include.Kind == IncludeKind.Revisions)
                .SelectMany(static include => include.Arguments)
                .Select(argument => Encoding.UTF8.GetString(operands.ReadText(argument, "revisions()")))
                .Distinct(StringComparer.Ordinal),
        ];
        bool hasTimings = request.IncludesTimings || HasInclude(query, IncludeKind.Timings);
        // A query that patches does not read directly: a patch moves its document to the end of the collection, where a
        // direct read would return the document again. Only a scan prevents this repetition (see WalkDeduplicator).
        if (named is null && !isChange && IsDecidedByIds(query, operands, out var condition))
        {
            return new QueryPlan
            {
                Query = query,
                DirectRead = new DocumentSelection
                {
                    Collection = query.Source.Kind == SourceKind.Collection ? query.Source.Name : null,
                    Condition = condition,
                    Offset = offset,
                    Limit = limit,
                },
                Includes = includes,
                IncludedValues = includedValues,
                IncludedCounters = includedCounters,
                IncludedRevisions = includedRevisions,
                ContainsStoredData = values.AreRead,
                HasTimings = hasTimings,
                IndexName = DirectReadName(query.Source),
            };
        }

        bool isPageAsWritten = offset == writtenOffset && limit == writtenLimit;
        var paged = isPageAsWritten ? query : WithPage(query, offset, limit);
        if (request.Projecting != ProjectionBehavior.Default)
        {
            paged = paged with { Projecting = request.Projecting };
        }
        if (!isChange && (request.SkipsDuplicateChecking || named is { Rows.Definition.IsOfCounters: true }))
        {
            paged = paged with { ReturnsEachEntry = true };
        }

        var fullText = new FullTextConditions(
            named?.Rows is { } rows ? rows.AnalyzerOf : static _ => IndexedQueries.Analyzer,
            named?.Rows?.WordFields
        )
        {
            StopWords = id =>
            {
                hasReadDocuments = true;
                return StopWordsDocument.Read(database, id);
            },
        };
        try
        {
            var compiled = CompiledQuery.Compile(paged, parameters, fullText, named?.Rows);
            return new QueryPlan
            {
                Query = query,
                Compiled = compiled,
                Includes = includes,
                IncludedValues = includedValues,
                IncludedCounters = includedCounters,
                IncludedRevisions = includedRevisions,
                ContainsStoredData = hasReadDocuments || values.AreRead,
                HasTimings = hasTimings,
                NamedIndex = named,
                Replan = named?.Rows is null ? null : () => Create(written, request, database, indexes, isChange),
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

    // Refused before the query defines an automatic index of that name.
    private static void RefuseLongName(Source source)
    {
        int bytes = source.Kind == SourceKind.Collection ? Encoding.UTF8.GetByteCount(source.Name) : 0;
        if (bytes > DocumentLimits.MaxCollectionBytes)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The name of a collection has at most {Amount.Number(DocumentLimits.MaxCollectionBytes)} B of UTF-8; "
                    + $"this one has {Amount.Number(bytes)} B.",
                source.Position
            );
        }
    }

    private static void RefuseUpdate(Query query)
    {
        if (query.Update is { } update)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'update' changes documents, and a query only reads: send it by PATCH to queries, or use "
                    + "`rookery patch`.",
                update.Position - 1 // the brace before the script
            );
        }
    }

    private static Query WithPage(Query query, long offset, long? limit) =>
        query with
        {
            Offset = Number(offset, query.Offset),
            Limit = limit is { } maxResults ? Number(maxResults, query.Limit) : null,
        };

    // A page size of long.MaxValue is no limit.
    private static long? SmallerLimit(long? writtenLimit, long pageSize)
    {
        if (writtenLimit is { } limit)
        {
            return Math.Min(limit, pageSize);
        }
        return pageSize == long.MaxValue ? null : pageSize;
    }

    /// <summary>Returns whether the query selects whole documents by collection and ids only.</summary>
    private static bool IsDecidedByIds(Query query, OperandValues operands, out IdCondition? condition)
    {
        condition = null;
        // Highlights and explanations are computed from the compiled query.
        bool hasNotes = HasInclude(query, IncludeKind.Highlight) || HasInclude(query, IncludeKind.Explanations);
        bool isPlain =
            query is
            { Filter: null, FilterLimit: null, Select: null, GroupBy.Count: 0, OrderBy.Count: 0, Loads.Count: 0 };
        if (hasNotes || !isPlain)
        {
            return false;
        }

        condition = IdCondition.TryRead(query.Where, operands);
        return query.Where is null || condition is not null;
    }

    private static NumberOperand Number(long count, Operand? written) =>
        new(count.ToString(CultureInfo.InvariantCulture), written?.Position ?? 0);

    /// <summary>Returns the index name that RavenDB shows for a query that uses no index.</summary>
    private static string DirectReadName(Source source) =>
        source.Kind == SourceKind.Collection ? "collection/" + source.Name : "AllDocs";

    private static bool HasInclude(Query query, IncludeKind kind)
    {
        foreach (var include in query.Includes)
        {
            if (include.Kind == kind)
            {
                return true;
            }
        }

        return false;
    }

    private static string[] PathsOf(Query query, IncludeKind kind) =>
        query.Includes.Count == 0
            ? []
            : [.. query.Includes.Where(include => include.Kind == kind).Select(static include => include.Path!)];

    /// <summary>
    /// Reads the compare-exchange values that a query names, all of them from one snapshot. The snapshot is opened when
    /// the first value is read, because most queries name no value. It is closed when the plan is complete.
    /// </summary>
    private sealed class PlannedValues(Database database) : IDisposable
    {
        private DatabaseReader? _reader;

        /// <summary>Whether a value was looked up, also one that does not exist.</summary>
        public bool AreRead => _reader is not null;

        /// <summary>Reads the JSON of a value; null if there is none.</summary>
        public byte[]? Read(byte[] key)
        {
            var reader = _reader ??= database.OpenReader();
            if (!reader.TryGetCompareExchange(key, out var value))
            {
                return null;
            }

            using (value)
            {
                return value.View.Body["\"Object\":".Length..].ToArray(); // the body has this member only
            }
        }

        public void Dispose() => _reader?.Dispose();
    }
}
