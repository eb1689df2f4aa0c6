namespace Rookery.Queries.Language;

/// <summary>A condition of a query.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public abstract record Condition(int Position);

/// <summary>All conditions must match. A chain of <c>and</c> is one list.</summary>
/// <param name="Conditions">The conditions, at least two.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record AndCondition(IReadOnlyList<Condition> Conditions, int Position) : Condition(Position);

/// <summary>Any condition must match. A chain of <c>or</c> is one list.</summary>
/// <param name="Conditions">The conditions, at least two.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record OrCondition(IReadOnlyList<Condition> Conditions, int Position) : Condition(Position);

/// <summary><c>not</c>.</summary>
/// <param name="Inner">The negated condition.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record NotCondition(Condition Inner, int Position) : Condition(Position);

/// <summary><c>true</c>, or empty brackets: matches every document.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record EveryCondition(int Position) : Condition(Position);

/// <summary>
/// A call of a declared function, compared with a value or alone: <c>total(o) &gt; 100</c>. Only in the criteria of
/// subscriptions (<see cref="RqlParser.ParseCriteria"/>).
/// </summary>
/// <param name="Script">The condition as JavaScript.</param>
/// <param name="CalledOnDocument">The function that is called as <c>f.call(o)</c>: its first argument is its
/// <c>this</c>. Null if it is called as <c>f(o)</c>.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ScriptCondition(string Script, string? CalledOnDocument, int Position) : Condition(Position);

/// <summary>Comparison of a field and a value.</summary>
public enum ComparisonOperator
{
    /// <summary><c>=</c>, <c>==</c>.</summary>
    Equal,

    /// <summary><c>!=</c>, <c>&lt;&gt;</c>.</summary>
    NotEqual,

    /// <summary><c>&lt;</c>.</summary>
    Less,

    /// <summary><c>&lt;=</c>.</summary>
    LessOrEqual,

    /// <summary><c>&gt;</c>.</summary>
    Greater,

    /// <summary><c>&gt;=</c>.</summary>
    GreaterOrEqual,
}

/// <summary>A field compared with a value.</summary>
/// <param name="Field">The field.</param>
/// <param name="Operator">The operator.</param>
/// <param name="Value">The value.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ComparisonCondition(FieldReference Field, ComparisonOperator Operator, Operand Value, int Position)
    : Condition(Position);

/// <summary><c>between low and high</c>, both included.</summary>
/// <param name="Field">The field.</param>
/// <param name="Low">The lower bound.</param>
/// <param name="High">The upper bound.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record BetweenCondition(FieldReference Field, Operand Low, Operand High, int Position)
    : Condition(Position);

/// <summary><c>in (…)</c>, <c>all in (…)</c>. A parameter among the values may hold a list.</summary>
/// <param name="Field">The field.</param>
/// <param name="Values">The values. An empty list matches nothing.</param>
/// <param name="IsAll">Whether the field must have every value.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record InCondition(FieldReference Field, IReadOnlyList<Operand> Values, bool IsAll, int Position)
    : Condition(Position);

/// <summary><c>exists(field)</c>.</summary>
/// <param name="Field">The field.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ExistsCondition(FieldReference Field, int Position) : Condition(Position);

/// <summary>Kinds of conditions on the text of a field.</summary>
public enum TextConditionKind
{
    /// <summary><c>startsWith(field, text)</c>.</summary>
    StartsWith,

    /// <summary><c>endsWith(field, text)</c>.</summary>
    EndsWith,

    /// <summary><c>regex(field, pattern)</c>.</summary>
    Regex,
}

/// <summary>A condition on the text of a field.</summary>
/// <param name="Kind">The kind.</param>
/// <param name="Field">The field.</param>
/// <param name="Text">The text or pattern.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record TextCondition(TextConditionKind Kind, FieldReference Field, Operand Text, int Position)
    : Condition(Position);

/// <summary><c>lucene(field, clause)</c>: a clause of Lucene's query language.</summary>
/// <param name="Field">The field of terms without a field prefix.</param>
/// <param name="Clause">The clause. If its value is null, the condition matches null.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record LuceneCondition(FieldReference Field, Operand Clause, int Position) : Condition(Position);

/// <summary><c>search(field, terms[, and|or])</c>: full text.</summary>
/// <param name="Field">The field.</param>
/// <param name="Terms">Words, phrases in quotes, wildcards.</param>
/// <param name="NeedsAll">Whether every term must occur; otherwise at least one.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record SearchCondition(FieldReference Field, Operand Terms, bool NeedsAll, int Position)
    : Condition(Position);

/// <summary><c>exact(condition)</c>: compares texts with case.</summary>
/// <param name="Inner">The condition.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ExactCondition(Condition Inner, int Position) : Condition(Position);

/// <summary><c>boost(condition, factor)</c>: multiplies the score.</summary>
/// <param name="Inner">The condition.</param>
/// <param name="Factor">The factor, 0 or more.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record BoostCondition(Condition Inner, Operand Factor, int Position) : Condition(Position);

/// <summary><c>fuzzy(field = text, similarity)</c>: matches texts that are similar by edit distance.</summary>
/// <param name="Inner">The equality.</param>
/// <param name="Similarity">The similarity, from 0 to 1.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record FuzzyCondition(ComparisonCondition Inner, Operand Similarity, int Position) : Condition(Position);

/// <summary>
/// <c>proximity(search(…), distance)</c>: matches texts with all terms, each at most <paramref name="Distance"/> words
/// from its place in the phrase.
/// </summary>
/// <param name="Inner">The search.</param>
/// <param name="Distance">Maximum distance of a term from its place, in words, from 0.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ProximityCondition(SearchCondition Inner, Operand Distance, int Position) : Condition(Position);

/// <summary>
/// <c>intersect(a, b, …)</c>: evaluated as <c>and</c>. In a query of a static index, each condition may match another
/// row of the document.
/// </summary>
/// <param name="Conditions">The conditions, at least two.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record IntersectCondition(IReadOnlyList<Condition> Conditions, int Position) : Condition(Position);

/// <summary><c>moreLikeThis(document[, options])</c>: matches documents that are similar to a model document.</summary>
/// <param name="Document">An id, or a document as a text of JSON; null if <paramref name="Condition"/> is set.</param>
/// <param name="Condition">A condition that finds the document; null if <paramref name="Document"/> is set.</param>
/// <param name="Options">The options as JSON text; null for none.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record MoreLikeThisCondition(Operand? Document, Condition? Condition, Operand? Options, int Position)
    : Condition(Position);
