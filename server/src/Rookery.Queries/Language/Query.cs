using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>
/// The parsed tree of a query in RavenDB's RQL. It refers to parameters by name, so one tree serves all sets of values.
/// </summary>
/// <remarks>Thread-safe. Caches which indexes can answer the query, for the next query with the same text.</remarks>
public sealed record Query
{
    private object? _coveringIndexes;

    /// <summary>The query's text.</summary>
    public required string Text { get; init; }

    /// <summary><c>declare function</c>, in the order of the text.</summary>
    public IReadOnlyList<DeclaredFunction> Functions { get; init; } = [];

    /// <summary><c>from</c>.</summary>
    public required Source Source { get; init; }

    /// <summary><c>group by</c>; empty if missing.</summary>
    public IReadOnlyList<GroupKey> GroupBy { get; init; } = [];

    /// <summary><c>where</c>; null if missing.</summary>
    public Condition? Where { get; init; }

    /// <summary><c>order by</c>; empty if missing.</summary>
    public IReadOnlyList<OrderKey> OrderBy { get; init; } = [];

    /// <summary><c>load</c>: documents that the selection may refer to.</summary>
    public IReadOnlyList<LoadClause> Loads { get; init; } = [];

    /// <summary><c>filter</c>: a condition evaluated on each result of <see cref="Where"/>, without an index.</summary>
    public Condition? Filter { get; init; }

    /// <summary><c>filter_limit</c>: maximum number of results on which <see cref="Filter"/> is evaluated.</summary>
    public Operand? FilterLimit { get; init; }

    /// <summary><c>select</c>; null for whole documents.</summary>
    public Selection? Select { get; init; }

    /// <summary>Where <see cref="Select"/> reads fields from. Set by the request, not by the text.</summary>
    public ProjectionBehavior Projecting { get; init; }

    /// <summary>
    /// Whether each matching entry of a static index is a result, so that a document may be several results. Set by the
    /// request, not by the text.
    /// </summary>
    public bool ReturnsEachEntry { get; init; }

    /// <summary><c>update</c>: the script between its braces. Allowed only in a patch by query.</summary>
    public ScriptText? Update { get; init; }

    /// <summary><c>include</c>.</summary>
    public IReadOnlyList<IncludeClause> Includes { get; init; } = [];

    /// <summary>Results to skip; null for none.</summary>
    public Operand? Offset { get; init; }

    /// <summary>Maximum results to return; null for all.</summary>
    public Operand? Limit { get; init; }

    /// <summary>
    /// The cached indexes that cover the query (<c>CoveringIndexes</c>). Null until the query is planned. A copy with
    /// another source, condition or order must reset it.
    /// </summary>
    internal object? CoveringIndexes
    {
        get => Volatile.Read(ref _coveringIndexes);
        set => Volatile.Write(ref _coveringIndexes, value);
    }

    /// <summary>Returns the same query over another source.</summary>
    public Query From(Source source) => this with { Source = source, CoveringIndexes = null };
}

/// <summary>Kinds of sources of a query.</summary>
public enum SourceKind
{
    /// <summary>A collection.</summary>
    Collection,

    /// <summary>All documents: <c>@all_docs</c>.</summary>
    AllDocuments,

    /// <summary>A named index: <c>from index 'Users/ByName'</c>.</summary>
    Index,
}

/// <summary><c>from</c>.</summary>
/// <param name="Kind">The kind of source.</param>
/// <param name="Name">The name, with quotes and escapes resolved.</param>
/// <param name="Alias">The alias (<c>as u</c>); null if there is none.</param>
/// <param name="Position">The name's position in the query's text, in characters from 0.</param>
public sealed record Source(SourceKind Kind, string Name, string? Alias, int Position)
{
    /// <summary>
    /// Whether the revisions of the documents are meant (<c>Users (Revisions = true)</c>), which only subscriptions
    /// read.
    /// </summary>
    public bool OfRevisions { get; init; }
}

/// <summary>A key of <c>group by</c>.</summary>
/// <param name="Path">The field.</param>
/// <param name="IsWholeArray">Whether the whole array is one key (<c>array(path)</c>) instead of each element.</param>
/// <param name="Alias">The alias (<c>as</c>); null if there is none.</param>
public sealed record GroupKey(FieldPath Path, bool IsWholeArray, string? Alias);

/// <summary>How values are ordered.</summary>
public enum OrderKind
{
    /// <summary>By kind: null, then booleans, numbers by value, texts without case.</summary>
    Natural,

    /// <summary>All values as texts without case: <c>as string</c>.</summary>
    Text,

    /// <summary>As integers: <c>as long</c>.</summary>
    Long,

    /// <summary>As numbers: <c>as double</c>.</summary>
    Double,

    /// <summary>As texts whose runs of digits compare as numbers: <c>as alphaNumeric</c>.</summary>
    AlphaNumeric,

    /// <summary>By score: <c>score()</c>. The highest first, unless <c>asc</c> is written.</summary>
    Score,

    /// <summary>Shuffled: <c>random('seed')</c>.</summary>
    Random,
}

/// <summary>Place of null and missing values in an order.</summary>
public enum NullPlace
{
    /// <summary>First in an ascending order, last in a descending one.</summary>
    Default,

    /// <summary><c>nulls first</c>.</summary>
    First,

    /// <summary><c>nulls last</c>.</summary>
    Last,
}

/// <summary>A key of <c>order by</c>.</summary>
/// <param name="Field">The field; null for <see cref="OrderKind.Score"/> and <see cref="OrderKind.Random"/>.</param>
/// <param name="Kind">How values are compared.</param>
/// <param name="IsDescending">Whether the greatest value comes first.</param>
/// <param name="Seed">The seed of <c>random('seed')</c>; null if there is none.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
/// <param name="Nulls">The place of null.</param>
public sealed record OrderKey(
    FieldReference? Field,
    OrderKind Kind,
    bool IsDescending,
    Operand? Seed,
    int Position,
    NullPlace Nulls = NullPlace.Default
);

/// <summary><c>load path as alias</c>.</summary>
/// <param name="Path">The path of the document's id.</param>
/// <param name="Alias">The name of the loaded document.</param>
/// <param name="IsMany">Whether the path holds several ids (<c>as alias[]</c>).</param>
public sealed record LoadClause(FieldPath Path, string Alias, bool IsMany);

/// <summary>The source of a script in a query, without the braces around it.</summary>
/// <param name="Text">The script.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ScriptText(string Text, int Position);

/// <summary><c>declare function name(a, b) { … }</c>.</summary>
/// <param name="Name">The name.</param>
/// <param name="Parameters">The names of its parameters.</param>
/// <param name="Body">The source between its braces.</param>
public sealed record DeclaredFunction(string Name, IReadOnlyList<string> Parameters, ScriptText Body);

/// <summary>Kinds of parts of <c>include</c>.</summary>
public enum IncludeKind
{
    /// <summary>Documents whose ids are at a path.</summary>
    Documents,

    /// <summary><c>cmpxchg(path)</c>: compare-exchange values whose keys are at a path.</summary>
    CompareExchange,

    /// <summary><c>counters(name…)</c> of the results, or <c>counters(path, name…)</c> of the documents whose ids are
    /// at a path; all counters if no name is given.</summary>
    Counters,

    /// <summary><c>revisions(path or time…)</c>: revisions whose change vectors are at a path of the results, or the
    /// revisions of the results at a time.</summary>
    Revisions,

    /// <summary><c>timings()</c>.</summary>
    Timings,

    /// <summary><c>explanations()</c>.</summary>
    Explanations,

    /// <summary><c>highlight(field, length, fragments[, options])</c>.</summary>
    Highlight,
}

/// <summary>One part of <c>include</c>.</summary>
/// <param name="Kind">The kind.</param>
/// <param name="Path">The path of ids or keys, or the field to highlight; null otherwise, and for the counters of the
/// results. A text, because the answer contains it as written.</param>
/// <param name="Arguments">Further arguments.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record IncludeClause(IncludeKind Kind, string? Path, IReadOnlyList<Operand> Arguments, int Position);
