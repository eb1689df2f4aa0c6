using System.Buffers;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Scanning;

/// <summary>
/// A query with its parameters, ready to be answered by looking at documents one by one. What it means is written in
/// docs/reference/rql.md ("What values mean"). Thread-safe, unless it has conditions of full text, which serve one
/// answer; each answer has a <see cref="ScanRun"/> of its own.
/// </summary>
/// <remarks>
/// The caller first looks for what <see cref="Likenesses"/> name. Where <see cref="Counted"/> is not null, it then
/// walks over its documents and gives each to <see cref="Count"/>. Then it walks over the documents of
/// <see cref="Target"/> and gives each to
/// <see cref="ScanRun.Add"/>, in the order of their etags, or of their ids when the target names ids. It writes those
/// that are asked for at once, and afterwards what <see cref="ScanRun.Finish"/> names. Those of a <see cref="Summary"/>
/// it gives to its run instead. Running <see cref="Script"/>, <c>include</c> and <c>update</c> are the caller's.
/// </remarks>
public sealed class ScanPlan
{
    // Planning compares each part that speaks of a group with each key and each selected member; each result holds half
    // a KiB for each key it is sorted by.
    private const int MaxKeys = 64;
    private const int MaxSelected = 256;

    private readonly Projection? _projection;
    private readonly bool _isGrouped;
    private readonly IFullTextConditions? _fullText;

    private ScanPlan(Query query, QueryParameters parameters, IFullTextConditions? fullText, RowSource? rows)
    {
        Rows = rows;
        var operands = new OperandValues(parameters);
        RefuseUnsupported(query, rows);
        Bound(
            query.GroupBy.Count,
            MaxKeys,
            "keys of 'group by'",
            query.GroupBy.Count > MaxKeys ? query.GroupBy[MaxKeys].Path.Position : 0
        );
        Bound(
            query.OrderBy.Count,
            MaxKeys,
            "keys of 'order by'",
            query.OrderBy.Count > MaxKeys ? query.OrderBy[MaxKeys].Position : 0
        );
        if (query.Select is FieldSelection { Items: { Count: > MaxSelected } items })
        {
            Bound(items.Count, MaxSelected, "selected members", items[MaxSelected].Position);
        }

        _isGrouped = query.GroupBy.Count > 0;
        var groups = _isGrouped ? new GroupFields(query) : null;
        FieldResolver fields =
            groups is not null ? groups
            : rows is null ? new DocumentFields()
            : new RowFields(rows);
        var conditions = new ConditionCompiler(fields, operands, fullText);
        Target = ScanTarget.Find(query, operands);
        Where = conditions.Compile(query.Where);
        Filter = query.Filter is null
            ? null
            : (
                rows is { IsReduced: false }
                    ? new ConditionCompiler(new DocumentFields(), operands, fullText: null)
                    : conditions
            ).Compile(query.Filter);
        FilterLimit = operands.Count(query.FilterLimit, "filter_limit");
        IReadOnlyList<OrderKey> order = QuerySummary.IsPartOf(query) ? query.OrderBy : Relevance.OrderOf(query);

        // Who walks over documents meets them in the order of ids then; rows lie otherwise.
        order =
            order.Count == 0 && rows is { IsReduced: false } && Target.NamesIds && !QuerySummary.IsPartOf(query)
                ? [new OrderKey(new IdReference(0), OrderKind.Natural, false, null, 0)]
                : order;
        Sort = new SortKeys(order, fields, operands, endsWithKey: _isGrouped || rows is { IsReduced: true });
        var explained =
            query.Includes.Count == 0
                ? null
                : query.Includes.FirstOrDefault(static include => include.Kind == IncludeKind.Explanations);
        Explains = explained is not null;
        IsScored = !_isGrouped && (Sort.HasScore || SelectsScore(query) || Explains);
        Highlights = HighlightsOf(query, fields, operands, Where);
        ExplanationKey = explained is null ? null : KeyOf(explained, operands);
        RefuseUnnamed(query);
        _fullText = fullText;
        IsOfScans = Relevance.HasLikeness(query.Where) || Relevance.HasLikeness(query.Filter);
        Likenesses = conditions.Likenesses.Count == 0 ? [] : LikenessesOf(query, conditions, parameters, rows);
        Counted =
            rows is null && fullText is { NeedsCount: true } && (IsScored || IsOfScans)
                ? Compile(SourceOf(query), parameters)
                : null;
        Summary = QuerySummary.Of(query, fields, conditions, operands);
        Script = Summary is null ? QueryScripts.SelectionOf(query, parameters) : null;
        _projection =
            Summary is null && Script is null
                ? ProjectionOf(query, rows is null ? fields : new SelectedFields(rows, query.Projecting), operands)
                : null;
        IsOfEachRow =
            rows is { IsReduced: true }
            || (rows is not null && SelectsStored(query, new SelectedFields(rows, query.Projecting)));
        IsDistinct = query.Select is FieldSelection { IsDistinct: true };
        Offset = Summary is null ? operands.Count(query.Offset, "offset") ?? 0 : 0;
        Limit = Summary is null ? operands.Count(query.Limit, "limit") : null;
        Groups = groups is null ? null : GroupCompiler.Compile(query.GroupBy, groups);
    }

    /// <summary>Which documents to look at.</summary>
    public ScanTarget Target { get; }

    /// <summary>
    /// Whether results are documents as they are stored; else objects that <see cref="Script"/> makes, or members
    /// written by <see cref="WriteMembers"/> or <see cref="ScanResults.WriteMembers"/>.
    /// </summary>
    public bool GivesDocuments => _projection is null && Script is null;

    /// <summary>Whether results are whole documents, which have metadata of their own.</summary>
    public bool HasMetadata => GivesDocuments && !_isGrouped && Summary is null && Rows is not { IsReduced: true };

    /// <summary>The script that makes the results of documents; null where none does.</summary>
    public SelectionScript? Script { get; }

    /// <summary>
    /// Which documents <c>moreLikeThis</c> compares with: the first of each plan is learned before documents are
    /// counted.
    /// </summary>
    public IReadOnlyList<LikenessSource> Likenesses { get; }

    /// <summary>
    /// Whether of documents only a scan answers it: what <c>moreLikeThis</c> compares with is counted by one.
    /// </summary>
    public bool IsOfScans { get; }

    /// <summary>
    /// The plan of all documents that relevance depends on, each of which is given to <see cref="Count"/> before the
    /// first is looked at; null where it depends on none.
    /// </summary>
    public ScanPlan? Counted { get; }

    /// <summary>
    /// Whether all documents of <see cref="Counted"/> were counted: an answer that begins again does not count them
    /// again.
    /// </summary>
    public bool IsCounted { get; set; }

    /// <summary>Whether results have a score.</summary>
    public bool IsScored { get; }

    /// <summary>What is computed of all results instead of giving them; null where they are given.</summary>
    public QuerySummary? Summary { get; }

    /// <summary>The index whose rows are asked; null where documents are.</summary>
    public RowSource? Rows { get; }

    /// <summary>Whether results are groups of documents.</summary>
    public bool IsGrouped => _isGrouped;

    /// <summary>
    /// Whether each row is a result, because it is reduced or stored values of it are selected; otherwise its document
    /// is, once.
    /// </summary>
    public bool IsOfEachRow { get; }

    /// <summary>
    /// Whether the answer says more of its results than they do: see <see cref="Execution.QueryNotes"/>.
    /// </summary>
    public bool HasNotes => Explains || Highlights.Count > 0;

    /// <summary>Results to pass over.</summary>
    public long Offset { get; }

    /// <summary>Results to give at most; null for all.</summary>
    public long? Limit { get; }

    /// <summary>Results up to the end of the page; <see cref="long.MaxValue"/> when it has no end.</summary>
    internal long PageEnd => Limit is { } limit && limit < long.MaxValue - Offset ? Offset + limit : long.MaxValue;

    internal Predicate Where { get; }

    /// <summary>Whether the answer says how each score came about.</summary>
    internal bool Explains { get; }

    /// <summary>The field whose value names a result in the explanations; null where its id does.</summary>
    internal string? ExplanationKey { get; }

    /// <summary>Fields of whose texts the answer shows pieces.</summary>
    internal IReadOnlyList<Highlight> Highlights { get; }

    internal Predicate? Filter { get; }

    internal long? FilterLimit { get; }

    internal SortKeys Sort { get; }

    internal GroupPlan? Groups { get; }

    internal bool IsDistinct { get; }

    /// <summary>Makes a query ready.</summary>
    /// <param name="query">The query.</param>
    /// <param name="parameters">Its parameters.</param>
    /// <param name="fullText">Makes conditions of full text; null where they are refused.</param>
    /// <param name="rows">The static index that it names, whose rows are asked; null where documents are. Its source is
    /// then all documents.</param>
    /// <exception cref="QueryException">It is wrong, needs what a scan does not have, or is too large.</exception>
    public static ScanPlan Compile(
        Query query,
        QueryParameters parameters,
        IFullTextConditions? fullText = null,
        RowSource? rows = null
    ) => new(query, parameters, fullText, rows);

    /// <summary>Counts a document of <see cref="Counted"/>.</summary>
    /// <param name="document">The document.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    public void Count(in QueriedDocument document, IScanClock clock) => _fullText!.Count(document, clock);

    /// <summary>Begins an answer.</summary>
    /// <param name="share">What it holds (results to sort, groups, distinct values) is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    /// <param name="needsTotal">Whether results behind the page are counted.</param>
    public ScanRun Start(MemoryShare share, IScanClock clock, bool needsTotal = true) =>
        new(this, share, clock, needsTotal);

    /// <summary>Writes the members of a projected document, without braces.</summary>
    /// <param name="document">The document.</param>
    /// <param name="output">Where to.</param>
    /// <param name="clock">Is asked as the work goes on; null where nobody is.</param>
    /// <exception cref="QueryException">A field that has to be there is not.</exception>
    public void WriteMembers(in QueriedDocument document, IBufferWriter<byte> output, IScanClock? clock = null)
    {
        Invariant.Holds(_projection is not null, "members are written of projected results");
        _projection.Write(document, output, clock);
    }

    /// <summary>Writes a score as JSON.</summary>
    public static void WriteScore(double score, IBufferWriter<byte> output) => Projection.WriteScore(score, output);

    /// <summary>Whether a document, or of a grouped query the row of a group, satisfies <c>where</c>.</summary>
    internal bool Matches(in QueriedDocument document, ScanWork work) => Where.Matches(document, work);

    /// <summary>Whether a document satisfies <c>where</c>, and how relevant it is where that is asked for.</summary>
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

    private static LikenessSource[] LikenessesOf(
        Query query,
        ConditionCompiler conditions,
        QueryParameters parameters,
        RowSource? rows
    ) =>
        [
            .. conditions.Likenesses.Select(one => new LikenessSource(
                Compile(SourceOf(query) with { Where = one.Finder }, parameters, fullText: null, rows),
                one.Condition,
                one.Finder.Position
            )),
        ];

    /// <summary>All documents of a query's source.</summary>
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
            _ => throw new QueryException(QueryFault.NotSupported, "This 'select' is not supported.", 0),
        };

    private static void Bound(int count, int most, string what, int position)
    {
        if (count > most)
        {
            throw new QueryException(QueryFault.TooCostly, $"A query takes at most {most} {what}.", position);
        }
    }

    private static bool SelectsStored(Query query, SelectedFields fields) =>
        query.Select is FieldSelection { Items: var items } && items.Any(fields.AreOfRow);

    private static IncludeClause? NoteOf(Query query) =>
        query.Includes.Count == 0
            ? null
            : query.Includes.FirstOrDefault(static include =>
                include.Kind is IncludeKind.Highlight or IncludeKind.Explanations
            );

    private static string? KeyOf(IncludeClause explained, OperandValues operands)
    {
        var options = new ClauseOptions(explained.Arguments is [var given] ? given : null, "explanations", operands);
        string? key = options.Text("GroupKey");
        options.RefuseOthers();
        return key;
    }

    private static string NameOf(IncludeClause note) =>
        note.Kind == IncludeKind.Highlight ? "highlight" : "explanations";

    /// <summary>Reduced rows have no id by which the answer could name them.</summary>
    private void RefuseUnnamed(Query query)
    {
        if (
            Rows is { IsReduced: true }
            && NoteOf(query) is { } note
            && ((Explains && ExplanationKey is null) || Highlights.Any(static highlight => highlight.GroupKey is null))
        )
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{NameOf(note)}' of reduced rows needs the option 'GroupKey': a field whose value names each.",
                note.Position
            );
        }
    }

    /// <summary>Results that are computed refer to documents by their own members only.</summary>
    private static void RefuseNoReference(Query query)
    {
        if (query.Includes.Count == 0 || (query.GroupBy.Count == 0 && !QuerySummary.IsPartOf(query)))
        {
            return;
        }

        string[] names =
            QuerySummary.IsPartOf(query) ? []
            : query.Select is FieldSelection { Items: { Count: > 0 } items } ? [.. items.Select(Projection.NameOf)]
            : [.. query.GroupBy.Select(static key => key.Alias ?? key.Path.ToString())];
        foreach (var include in query.Includes.Where(static include => include.Kind == IncludeKind.Documents))
        {
            if (names.Length == 0)
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'include {include.Path}' follows results: those of 'facet' and 'suggest' refer to no document.",
                    include.Position
                );
            }

            if (!names.Contains(include.Path!.Split('.', '[')[0], StringComparer.Ordinal))
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'include {include.Path}' names no member of the groups, "
                        + $"which have '{string.Join("', '", names)}': "
                        + "select the id by a name without dots, and include that name.",
                    include.Position
                );
            }
        }
    }

    private static void RefuseUnsupported(Query query, RowSource? rows)
    {
        if (rows is not null && query.GroupBy.Count > 0)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'group by' stands behind a collection, not behind an index: define a reduce.",
                query.GroupBy[0].Path.Position
            );
        }

        if (NoteOf(query) is { } note && (query.GroupBy.Count > 0 || QuerySummary.IsPartOf(query)))
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{NameOf(note)}' speaks of documents, and the results are computed of several.",
                note.Position
            );
        }

        RefuseNoReference(query);
        if (
            query
            is {
                    Projecting: not (ProjectionBehavior.Default or ProjectionBehavior.FromDocument),
                    Select: ScriptSelection or CallSelection
                }
                or { Projecting: not ProjectionBehavior.Default, Loads.Count: > 0, Select: not null }
        )
        {
            throw new QueryException(
                QueryFault.NotSupported,
                $"'ProjectionBehavior' {query.Projecting} is not supported where a script makes the results: "
                    + $"it reads documents.",
                0
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
