using System.Buffers;
using Rookery.Documents.Databases;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Scanning;

/// <summary>
/// The compiled query: predicate, sort, projection and aggregates, with parameters filled in. Used to evaluate
/// documents one by one and to search indexes. docs/reference/rql.md ("What values mean") describes the semantics.
/// Thread-safe, unless it has full-text conditions: these collect word statistics of one answer, so the query serves
/// that answer only. Each answer has its own <see cref="ScanRun"/>.
/// </summary>
/// <remarks>
/// <para>A caller that scans takes these steps:</para>
/// <list type="number">
/// <item><description>Find the model document of each of <see cref="ModelQueries"/>.</description></item>
/// <item><description>If <see cref="WordCountQuery"/> is not null, pass each document of that query to
/// <see cref="CountWords"/>.</description></item>
/// <item><description>Pass each document of <see cref="Target"/> to <see cref="ScanRun.Add"/>, in the order of etags,
/// or of ids if the target names ids. If <see cref="ScanRun.Add"/> returns true, write the document at once. If there
/// is a <see cref="Summary"/>, pass the documents to the summary instead.</description></item>
/// <item><description>Write the results of <see cref="ScanRun.Finish"/>, or the summary.</description></item>
/// </list>
/// <para>The caller also runs <see cref="Script"/>, <c>include</c> and <c>update</c>.</para>
/// </remarks>
public sealed class CompiledQuery
{
    // Each result holds up to 512 bytes for each key of 'order by'.
    private const int MaxKeys = 64;

    // Bounds the time of compiling, which compares each reference to a group with each selected member.
    private const int MaxSelected = 256;

    private readonly Projection? _projection;
    private readonly bool _isGrouped;
    private readonly IFullTextConditions? _fullText;

    private CompiledQuery(Query query, QueryParameters parameters, IFullTextConditions? fullText, RowSource? rows)
    {
        Rows = rows;
        var operands = new OperandValues(parameters);
        RefuseUnsupported(query, rows);
        RefuseTooManyParts(query);

        _isGrouped = query.GroupBy.Count > 0;
        var groups = _isGrouped ? new GroupFields(query) : null;
        FieldResolver fields = (groups, rows) switch
        {
            (not null, _) => groups,
            (null, not null) => new RowFields(rows),
            (null, null) => new DocumentFields(),
        };
        var conditions = new ConditionCompiler(fields, operands, fullText);
        Target = ScanTarget.Find(query, operands);

        // Different rows of a document may satisfy the parts of 'intersect'. So 'Where' matches the rows that satisfy
        // any part, and 'Intersects' later requires a row for each part.
        var anyPart = rows is { IsReduced: false } ? Intersection.Across(query.Where) : null;
        Where = conditions.Compile(anyPart ?? query.Where);
        // Intersection.Across returns an or-condition, which compiles to an OrPredicate.
        Intersected = anyPart is null ? [] : ((OrPredicate)Where).Inner.ToArray();

        // 'filter' reads the document, not the rows that a map index computed from the document.
        var filters = rows is { IsReduced: false }
            ? new ConditionCompiler(new DocumentFields(), operands, fullText: null)
            : conditions;
        Filter = query.Filter is null ? null : filters.Compile(query.Filter);
        FilterLimit = operands.ReadCount(query.FilterLimit, "filter_limit");
        IReadOnlyList<OrderKey> order = QuerySummary.IsPartOf(query) ? query.OrderBy : Relevance.OrderOf(query);

        // A scan that is restricted by ids returns documents in the order of ids. Index entries are in another order,
        // so the order of ids is added here.
        if (order.Count == 0 && rows is { IsReduced: false } && Target.NamesIds && !QuerySummary.IsPartOf(query))
        {
            order = [new OrderKey(new IdReference(0), OrderKind.Natural, IsDescending: false, Seed: null, Position: 0)];
        }
        Sort = new SortKeys(order, fields, operands, breaksTiesByRowKey: _isGrouped || rows is { IsReduced: true });
        var explanations =
            query.Includes.Count == 0
                ? null
                : query.Includes.FirstOrDefault(static include => include.Kind == IncludeKind.Explanations);
        Explains = explanations is not null;
        IsScored = !_isGrouped && (Sort.HasScore || SelectsScore(query) || Explains);
        Highlights = HighlightsOf(query, fields, operands, Where);
        ExplanationKey = explanations is null ? null : ReadGroupKey(explanations, operands);
        RefuseNotesWithoutGroupKey(query);
        _fullText = fullText;
        NeedsScan = Relevance.HasMoreLikeThis(query.Where) || Relevance.HasMoreLikeThis(query.Filter);
        ModelQueries = conditions.MoreLikeThis.Count == 0 ? [] : ModelQueriesOf(query, conditions, parameters, rows);
        bool countsWords = rows is null && fullText is { NeedsWordCount: true } && (IsScored || NeedsScan);
        WordCountQuery = countsWords ? Compile(SourceOf(query), parameters) : null;
        Summary = QuerySummary.Of(query, fields, conditions, operands);
        ExcludesArchived =
            _isGrouped
            || Summary is not null
            || query.OrderBy.Count > 0
            || (query.Where is { } where && !ScanTarget.IsOnIds(where, operands));
        Script = Summary is null ? QueryScripts.SelectionOf(query, parameters) : null;
        _projection =
            Summary is null && Script is null
                ? ProjectionOf(query, rows is null ? fields : new SelectedFields(rows, query.Projecting), operands)
                : null;
        SelectsCounters = Script is null && PartsOfDocuments.SelectsCounter(query);
        ReturnsEachRow =
            rows is { IsReduced: true }
            || (
                rows is not null
                && query.ReturnsEachEntry
                && Summary is null
                && (Script is null || !rows.Definition.IsOfCounters)
            )
            || (rows is not null && SelectsStoredValues(query, new SelectedFields(rows, query.Projecting)));
        ReturnsRows =
            rows is { IsReduced: false, Definition.IsOfCounters: true } && query.ReturnsEachEntry && ReturnsDocuments;
        IsDistinct = query.Select is FieldSelection { IsDistinct: true };
        Offset = Summary is null ? operands.ReadCount(query.Offset, "offset") ?? 0 : 0;
        Limit = Summary is null ? operands.ReadCount(query.Limit, "limit") : null;
        Groups = groups is null ? null : GroupCompiler.Compile(query.GroupBy, groups);
    }

    /// <summary>The documents that a scan has to read.</summary>
    public ScanTarget Target { get; }

    /// <summary>
    /// Whether a scan skips archived documents, because RavenDB would answer the query from an index, which omits them.
    /// A query of a whole collection or by ids alone needs no index and returns archived documents too.
    /// </summary>
    public bool ExcludesArchived { get; }

    /// <summary>
    /// Whether results are documents as they are stored. Otherwise they are computed by <see cref="Script"/>,
    /// <see cref="WriteMembers"/> or, for groups, <see cref="ScanResults.WriteMembers"/>.
    /// </summary>
    public bool ReturnsDocuments => _projection is null && Script is null;

    /// <summary>Whether results are whole documents with their own metadata.</summary>
    public bool HasMetadata =>
        ReturnsDocuments && !ReturnsRows && !_isGrouped && Summary is null && Rows is not { IsReduced: true };

    /// <summary>The script that computes the results; null if there is none.</summary>
    public SelectionScript? Script { get; }

    /// <summary>
    /// The <c>moreLikeThis</c> conditions, each with the query that finds its model document. The caller sets all
    /// models before it passes documents to <see cref="CountWords"/>.
    /// </summary>
    public IReadOnlyList<ModelQuery> ModelQueries { get; }

    /// <summary>
    /// Whether an automatic index cannot answer the query, because <c>moreLikeThis</c> needs word statistics that only
    /// a scan collects. A static index can answer it.
    /// </summary>
    public bool NeedsScan { get; }

    /// <summary>
    /// The query for the documents whose words must be counted, because scores depend on the counts. The caller passes
    /// each of these documents to <see cref="CountWords"/> before it evaluates the first document. Null if nothing has
    /// to be counted.
    /// </summary>
    public CompiledQuery? WordCountQuery { get; }

    /// <summary>
    /// Whether all documents of <see cref="WordCountQuery"/> were counted. An answer that starts again does not count
    /// them again.
    /// </summary>
    public bool AreWordsCounted { get; set; }

    /// <summary>
    /// Clears the models of <see cref="ModelQueries"/>, before another attempt that may read another state of an index.
    /// If words were already counted for these models, keeps the models, because words are counted only once.
    /// </summary>
    public void ClearModels()
    {
        if (!AreWordsCounted)
        {
            foreach (var model in ModelQueries)
            {
                model.Condition.ClearModel();
            }
        }
    }

    /// <summary>Whether results have a score.</summary>
    public bool IsScored { get; }

    /// <summary>Whether 'select' names values of counters; false if a script computes the results.</summary>
    public bool SelectsCounters { get; }

    /// <summary>The facets or suggestions to compute instead of returning results; null if there are none.</summary>
    public QuerySummary? Summary { get; }

    /// <summary>The static index whose rows are evaluated; null to evaluate documents.</summary>
    public RowSource? Rows { get; }

    /// <summary>Whether results are groups of documents.</summary>
    public bool IsGrouped => _isGrouped;

    /// <summary>
    /// Whether each index row is a result of its own, because it is reduced, its stored values are selected, the index
    /// is over counters, or the request asks for it. Otherwise each document is one result, even if several of its rows
    /// match.
    /// </summary>
    public bool ReturnsEachRow { get; }

    /// <summary>
    /// Whether results are the stored rows of an index over counters, as in RavenDB, not their documents.
    /// </summary>
    public bool ReturnsRows { get; }

    /// <summary>
    /// Whether all rows of a document are one result. They are adjacent and share an etag, which no other row has.
    /// </summary>
    public bool JoinsRows => Rows is not null && !ReturnsEachRow;

    /// <summary>
    /// Whether the answer has highlights or score explanations, see <see cref="Execution.QueryNotes"/>.
    /// </summary>
    public bool HasNotes => Explains || Highlights.Count > 0;

    /// <summary>Results to skip.</summary>
    public long Offset { get; private set; }

    /// <summary>Results to return, at most; null for all.</summary>
    public long? Limit { get; private set; }

    /// <summary>Number of results up to the end of the page; <see cref="long.MaxValue"/> if unlimited.</summary>
    internal long PageEnd => Limit is { } limit && limit < long.MaxValue - Offset ? Offset + limit : long.MaxValue;

    internal Predicate Where { get; }

    /// <summary>
    /// Conditions of which each must hold for some row of a document, for <c>intersect</c> of a static index; empty
    /// otherwise.
    /// </summary>
    internal Predicate[] Intersected { get; }

    /// <summary>Whether the answer explains each score.</summary>
    internal bool Explains { get; }

    /// <summary>The field whose value names a result in the explanations; null to use the document's id.</summary>
    internal string? ExplanationKey { get; }

    /// <summary>The fields whose text fragments the answer shows.</summary>
    internal IReadOnlyList<Highlight> Highlights { get; }

    internal Predicate? Filter { get; }

    internal long? FilterLimit { get; }

    internal SortKeys Sort { get; }

    internal GroupPlan? Groups { get; }

    internal bool IsDistinct { get; }

    /// <summary>Compiles a query.</summary>
    /// <param name="query">The query.</param>
    /// <param name="parameters">The parameters of the query.</param>
    /// <param name="fullText">Compiles full-text conditions; null to refuse them.</param>
    /// <param name="rows">The static index that the query names, whose rows are evaluated; null to evaluate documents.
    /// With an index, the source of <paramref name="query"/> is all documents.</param>
    /// <exception cref="QueryException">The query is invalid, needs an unsupported feature, or is too
    /// large.</exception>
    public static CompiledQuery Compile(
        Query query,
        QueryParameters parameters,
        IFullTextConditions? fullText = null,
        RowSource? rows = null
    ) => new(query, parameters, fullText, rows);

    /// <summary>
    /// Returns the same query with another limit. Use it for the same answer only, because both share word statistics.
    /// </summary>
    /// <param name="limit">Maximum number of results.</param>
    internal CompiledQuery WithLimit(long limit)
    {
        var other = (CompiledQuery)MemberwiseClone();
        other.Limit = limit;
        return other;
    }

    /// <summary>Returns the same query without an offset, to continue after results that were already
    /// returned.</summary>
    /// <param name="limit">Maximum number of results.</param>
    internal CompiledQuery ContinuedWith(long limit)
    {
        var other = WithLimit(limit);
        other.Offset = 0;
        return other;
    }

    /// <summary>Adds a document of <see cref="WordCountQuery"/> to the word statistics.</summary>
    /// <param name="document">The document.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    public void CountWords(in QueriedDocument document, IWorkLimits limits) => _fullText!.CountWords(document, limits);

    /// <summary>Starts an evaluation.</summary>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted.</param>
    public ScanRun Start(QueryMemory memory, IWorkLimits limits, bool needsTotal = true) =>
        new(this, memory, limits, needsTotal);

    /// <summary>Writes the selected members of a document, without braces.</summary>
    /// <param name="document">The document.</param>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="limits">Checked during the work; null for no limit.</param>
    /// <param name="counters">The snapshot; null unless <see cref="SelectsCounters"/>.</param>
    /// <exception cref="QueryException">A required field is missing, or the members are much larger than the
    /// document.</exception>
    public void WriteMembers(
        in QueriedDocument document,
        IBufferWriter<byte> output,
        IWorkLimits? limits = null,
        DatabaseReader? counters = null
    )
    {
        Invariant.Holds(_projection is not null, "a query whose members are written has a projection");
        _projection.Write(document, new BoundedMembers(output, document), limits, counters);
    }

    /// <summary>Writes a score as JSON.</summary>
    public static void WriteScore(double score, IBufferWriter<byte> output) => Projection.WriteScore(score, output);

    /// <summary>Whether each of <see cref="Intersected"/> holds for some row of a document.</summary>
    internal bool Intersects(in QueriedDocument document, IReadOnlyList<byte[]> rows, ScanWork work)
    {
        foreach (var condition in Intersected)
        {
            bool matchesSomeRow = false;
            for (int i = 0; i < rows.Count && !matchesSomeRow; i++)
            {
                matchesSomeRow = condition.Matches(document.WithRow(rows[i]), work);
            }

            if (!matchesSomeRow)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Whether a document, or in a grouped query the row of a group, matches <c>where</c>.</summary>
    internal bool Matches(in QueriedDocument document, ScanWork work) => Where.Matches(document, work);

    /// <summary>
    /// Whether a document matches <c>where</c>. Also computes its score, or 0 if the query does not score.
    /// </summary>
    internal bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        score = 0;
        return IsScored ? Where.TryScore(document, work, out score) : Matches(document, work);
    }

    private static Highlight[] HighlightsOf(
        Query query,
        FieldResolver fields,
        OperandValues operands,
        Predicate where
    ) =>
        query.Includes.Count == 0
            ? []
            :
            [
                .. query
                    .Includes.Where(static include => include.Kind == IncludeKind.Highlight)
                    .Select(include => new Highlight(include, fields, operands, where)),
            ];

    private static ModelQuery[] ModelQueriesOf(
        Query query,
        ConditionCompiler conditions,
        QueryParameters parameters,
        RowSource? rows
    ) =>
        [
            .. conditions.MoreLikeThis.Select(pair => new ModelQuery(
                Compile(SourceOf(query) with { Where = pair.Finder }, parameters, fullText: null, rows),
                pair.Condition,
                pair.Finder.Position
            )),
        ];

    /// <summary>Returns a query for all documents of the same source.</summary>
    private static Query SourceOf(Query query) => new() { Text = query.Text, Source = query.Source };

    private static bool SelectsScore(Query query) =>
        query.Select is FieldSelection { Items: var items }
        && items.Any(static item => item.Source is SelectedReference { Field: ScoreReference });

    private static Projection? ProjectionOf(Query query, FieldResolver fields, OperandValues operands) =>
        query.Select switch
        {
            FieldSelection { Items: { Count: > 0 } items } => new Projection(items, fields, operands, query.Projecting),
            null or FieldSelection when query.GroupBy.Count > 0 => new Projection(
                [
                    .. query.GroupBy.Select(static key => new SelectedField(
                        new SelectedReference(new PathReference(key.Path)),
                        key.Alias,
                        key.Path.Position
                    )),
                ],
                fields,
                operands,
                ProjectionBehavior.Default
            ),
            null or FieldSelection => null,
            _ => throw new QueryException(QueryFault.NotSupported, "This 'select' is not supported.", position: 0),
        };

    private static void RefuseTooManyParts(Query query)
    {
        if (query.GroupBy.Count > MaxKeys)
        {
            throw TooMany(MaxKeys, "keys of 'group by'", query.GroupBy[MaxKeys].Path.Position);
        }
        if (query.OrderBy.Count > MaxKeys)
        {
            throw TooMany(MaxKeys, "keys of 'order by'", query.OrderBy[MaxKeys].Position);
        }
        if (query.Select is FieldSelection { Items: { Count: > MaxSelected } items })
        {
            throw TooMany(MaxSelected, "selected members", items[MaxSelected].Position);
        }
    }

    private static QueryException TooMany(int max, string parts, int position) =>
        new(QueryFault.TooCostly, $"A query takes at most {max} {parts}.", position);

    private static bool SelectsStoredValues(Query query, SelectedFields fields) =>
        query.Select is FieldSelection { Items: var items } && items.Any(fields.ReadsFromRow);

    private static IncludeClause? FindNoteClause(Query query) =>
        query.Includes.Count == 0
            ? null
            : query.Includes.FirstOrDefault(static include =>
                include.Kind is IncludeKind.Highlight or IncludeKind.Explanations
            );

    private static string? ReadGroupKey(IncludeClause explanations, OperandValues operands)
    {
        var options = new ClauseOptions(explanations.Arguments is [var given] ? given : null, "explanations", operands);
        string? key = options.ReadText("GroupKey");
        options.RefuseUnread();
        return key;
    }

    private static string ClauseName(IncludeClause note) =>
        note.Kind == IncludeKind.Highlight ? "highlight" : "explanations";

    /// <summary>
    /// Refuses highlights and explanations of reduced rows unless a field names each row, because rows have no id.
    /// </summary>
    private void RefuseNotesWithoutGroupKey(Query query)
    {
        if (
            Rows is { IsReduced: true }
            && FindNoteClause(query) is { } note
            && ((Explains && ExplanationKey is null) || Highlights.Any(static highlight => highlight.GroupKey is null))
        )
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{ClauseName(note)}' of reduced rows needs the option 'GroupKey': a field whose value identifies "
                    + "each row.",
                note.Position
            );
        }
    }

    private static void RefuseUnsupported(Query query, RowSource? rows)
    {
        if (rows is not null && query.GroupBy.Count > 0)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'group by' groups the documents of a collection, not an index. Define a reduce in the index.",
                query.GroupBy[0].Path.Position
            );
        }

        if (FindNoteClause(query) is { } note && (query.GroupBy.Count > 0 || QuerySummary.IsPartOf(query)))
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{ClauseName(note)}' describes one document, and each of these results is computed from several.",
                note.Position
            );
        }

        PartsOfDocuments.RefuseForGroups(query, rows);
        bool isScript = query.Select is ScriptSelection or CallSelection;
        bool selectsFromLoaded = query.Loads.Count > 0 && query.Select is not null;
        bool readsRows = query.Projecting is not (ProjectionBehavior.Default or ProjectionBehavior.FromDocument);
        if ((isScript && readsRows) || (selectsFromLoaded && query.Projecting != ProjectionBehavior.Default))
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'ProjectionBehavior' {query.Projecting} is not supported if a script computes the results, because "
                    + "scripts read documents. Leave it out, or use FromDocument.",
                position: 0
            );
        }

        if (
            query.GroupBy.Count > 0
            && query.OrderBy.FirstOrDefault(static order => order.Kind == OrderKind.Score) is { } score
        )
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'score()' of groups is not supported by this version.",
                score.Position
            );
        }
    }
}
