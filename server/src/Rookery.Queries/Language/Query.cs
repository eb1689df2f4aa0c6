using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>
/// A query as it was written, RavenDB's RQL. Parameters are still names: one parsed query serves every set of values.
/// </summary>
/// <remarks>Thread-safe. One that is asked again remembers what planning found out.</remarks>
public sealed record Query
{
    private object? _known;

    /// <summary>Its text.</summary>
    public required string Text { get; init; }

    /// <summary><c>declare function</c>, in the order of the text.</summary>
    public IReadOnlyList<DeclaredFunction> Functions { get; init; } = [];

    /// <summary><c>from</c>.</summary>
    public required Source Source { get; init; }

    /// <summary><c>group by</c>; empty when there is none.</summary>
    public IReadOnlyList<GroupKey> GroupBy { get; init; } = [];

    /// <summary><c>where</c>; null for all.</summary>
    public Condition? Where { get; init; }

    /// <summary><c>order by</c>; empty when there is none.</summary>
    public IReadOnlyList<OrderKey> OrderBy { get; init; } = [];

    /// <summary><c>load</c>: documents that projections may speak of.</summary>
    public IReadOnlyList<LoadClause> Loads { get; init; } = [];

    /// <summary><c>filter</c>: what is compared with each result of <see cref="Where"/>, without an index.</summary>
    public Condition? Filter { get; init; }

    /// <summary><c>filter_limit</c>: results that <see cref="Filter"/> may look at.</summary>
    public Operand? FilterLimit { get; init; }

    /// <summary><c>select</c>; null for whole documents.</summary>
    public Selection? Select { get; init; }

    /// <summary>Where <see cref="Select"/> reads fields from; the request says it, not the text.</summary>
    public ProjectionBehavior Projecting { get; init; }

    /// <summary><c>update</c>, only in a patch by query: the script between its braces.</summary>
    public ScriptText? Update { get; init; }

    /// <summary><c>include</c>.</summary>
    public IReadOnlyList<IncludeClause> Includes { get; init; } = [];

    /// <summary>Results to pass over; null for none.</summary>
    public Operand? Offset { get; init; }

    /// <summary>Results to give at most; null for all.</summary>
    public Operand? Limit { get; init; }

    /// <summary>
    /// What planning found out of its source, its conditions and its order when it was last asked; null before. A copy
    /// that differs in one of them has to forget it.
    /// </summary>
    internal object? Known
    {
        get => Volatile.Read(ref _known);
        set => Volatile.Write(ref _known, value);
    }

    /// <summary>The same query of another source.</summary>
    public Query From(Source source) => this with { Source = source, Known = null };
}

/// <summary>What a query reads.</summary>
public enum SourceKind
{
    /// <summary>A collection.</summary>
    Collection,

    /// <summary>All documents: <c>@all_docs</c>.</summary>
    AllDocuments,

    /// <summary>An index by its name: <c>from index 'Users/ByName'</c>.</summary>
    Index,
}

/// <summary><c>from</c>.</summary>
/// <param name="Kind">What kind of name it is.</param>
/// <param name="Name">The name, quotes and escapes resolved.</param>
/// <param name="Alias"><c>as u</c>, or null.</param>
/// <param name="Position">Characters of the text before the name.</param>
public sealed record Source(SourceKind Kind, string Name, string? Alias, int Position);

/// <summary>A key of <c>group by</c>.</summary>
/// <param name="Path">The field.</param>
/// <param name="IsWholeArray"><c>array(path)</c>: the array as one key, instead of one key for each element.</param>
/// <param name="Alias">What <c>as</c> names it, or null.</param>
public sealed record GroupKey(FieldPath Path, bool IsWholeArray, string? Alias);

/// <summary>How values are ordered.</summary>
public enum OrderKind
{
    /// <summary>As they are: null, then booleans, numbers by value, texts without case.</summary>
    Natural,

    /// <summary>As texts without case: <c>as string</c>.</summary>
    Text,

    /// <summary>As whole numbers: <c>as long</c>.</summary>
    Long,

    /// <summary>As numbers: <c>as double</c>.</summary>
    Double,

    /// <summary>Texts whose runs of digits count as numbers: <c>as alphaNumeric</c>.</summary>
    AlphaNumeric,

    /// <summary>By relevance: <c>score()</c>; the best first unless <c>asc</c> is written.</summary>
    Score,

    /// <summary>Shuffled: <c>random('seed')</c>.</summary>
    Random,
}

/// <summary>Where null and missing values stand in an order, whatever its direction.</summary>
public enum NullPlace
{
    /// <summary>Before all others; behind them where the order descends.</summary>
    Default,

    /// <summary><c>nulls first</c>.</summary>
    First,

    /// <summary><c>nulls last</c>.</summary>
    Last,
}

/// <summary>A key of <c>order by</c>.</summary>
/// <param name="Field">The field; null for <see cref="OrderKind.Score"/> and <see cref="OrderKind.Random"/>.</param>
/// <param name="Kind">How its values compare.</param>
/// <param name="IsDescending">Whether the greatest comes first.</param>
/// <param name="Seed">Of <c>random('seed')</c>, or null.</param>
/// <param name="Position">Characters of the text before it.</param>
/// <param name="Nulls">Where null stands.</param>
public sealed record OrderKey(
    FieldReference? Field,
    OrderKind Kind,
    bool IsDescending,
    Operand? Seed,
    int Position,
    NullPlace Nulls = NullPlace.Default
);

/// <summary><c>load path as alias</c>.</summary>
/// <param name="Path">Where the id of the document stands.</param>
/// <param name="Alias">The name of the loaded document.</param>
/// <param name="IsMany"><c>as alias[]</c>: the path holds several ids.</param>
public sealed record LoadClause(FieldPath Path, string Alias, bool IsMany);

/// <summary>A script of a query as it was written, without the braces around it, compiled elsewhere.</summary>
/// <param name="Text">The script.</param>
/// <param name="Position">Characters of the query before it.</param>
public sealed record ScriptText(string Text, int Position);

/// <summary><c>declare function name(a, b) { … }</c>.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Parameters">Names of its parameters.</param>
/// <param name="Body">What stands between its braces.</param>
public sealed record DeclaredFunction(string Name, IReadOnlyList<string> Parameters, ScriptText Body);

/// <summary>What <c>include</c> asks for.</summary>
public enum IncludeKind
{
    /// <summary>The documents whose ids stand at a path.</summary>
    Documents,

    /// <summary><c>timings()</c>.</summary>
    Timings,

    /// <summary><c>explanations()</c>.</summary>
    Explanations,

    /// <summary><c>highlight(field, length, fragments[, options])</c>.</summary>
    Highlight,
}

/// <summary>One thing that <c>include</c> asks for.</summary>
/// <param name="Kind">What.</param>
/// <param name="Path">The path of ids, or the field to highlight; null otherwise. As text, because RavenDB answers it
/// back.</param>
/// <param name="Arguments">Further arguments.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record IncludeClause(IncludeKind Kind, string? Path, IReadOnlyList<Operand> Arguments, int Position);
