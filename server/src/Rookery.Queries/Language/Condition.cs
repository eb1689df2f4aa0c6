namespace Rookery.Queries.Language;

/// <summary>What a result must satisfy.</summary>
/// <param name="Position">Characters of the text before it.</param>
public abstract record Condition(int Position);

/// <summary>All of several; chains of <c>and</c> are one list.</summary>
/// <param name="Conditions">At least two.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record AndCondition(IReadOnlyList<Condition> Conditions, int Position) : Condition(Position);

/// <summary>One of several; chains of <c>or</c> are one list.</summary>
/// <param name="Conditions">At least two.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record OrCondition(IReadOnlyList<Condition> Conditions, int Position) : Condition(Position);

/// <summary><c>not</c>.</summary>
/// <param name="Inner">What must not hold.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record NotCondition(Condition Inner, int Position) : Condition(Position);

/// <summary><c>true</c>, or an empty condition in brackets.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record EveryCondition(int Position) : Condition(Position);

/// <summary>How a field and a value compare.</summary>
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
/// <param name="Operator">How.</param>
/// <param name="Value">The value.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ComparisonCondition(FieldReference Field, ComparisonOperator Operator, Operand Value, int Position)
    : Condition(Position);

/// <summary><c>between low and high</c>, both included.</summary>
/// <param name="Field">The field.</param>
/// <param name="Low">The least.</param>
/// <param name="High">The greatest.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record BetweenCondition(FieldReference Field, Operand Low, Operand High, int Position)
    : Condition(Position);

/// <summary><c>in (…)</c>, <c>all in (…)</c>. A parameter among the values may hold a list.</summary>
/// <param name="Field">The field.</param>
/// <param name="Values">The values; none matches nothing.</param>
/// <param name="IsAll">Whether each value must be among the field's.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record InCondition(FieldReference Field, IReadOnlyList<Operand> Values, bool IsAll, int Position)
    : Condition(Position);

/// <summary><c>exists(field)</c>.</summary>
/// <param name="Field">The field.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ExistsCondition(FieldReference Field, int Position) : Condition(Position);

/// <summary>Conditions on the text of a field.</summary>
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
/// <param name="Kind">Which one.</param>
/// <param name="Field">The field.</param>
/// <param name="Text">What is looked for.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record TextCondition(TextConditionKind Kind, FieldReference Field, Operand Text, int Position)
    : Condition(Position);

/// <summary><c>lucene(field, clause)</c>: a clause of Lucene's query language.</summary>
/// <param name="Field">The field of terms that name none.</param>
/// <param name="Clause">The clause; null finds null.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record LuceneCondition(FieldReference Field, Operand Clause, int Position) : Condition(Position);

/// <summary><c>search(field, terms[, and|or])</c>: full text.</summary>
/// <param name="Field">The field.</param>
/// <param name="Terms">Words, phrases in quotes, wildcards.</param>
/// <param name="NeedsAll">Whether each term must be there; one of them otherwise.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record SearchCondition(FieldReference Field, Operand Terms, bool NeedsAll, int Position)
    : Condition(Position);

/// <summary><c>exact(condition)</c>: letters count with their case.</summary>
/// <param name="Inner">What is compared so.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ExactCondition(Condition Inner, int Position) : Condition(Position);

/// <summary><c>boost(condition, factor)</c>: counts so many times in the score.</summary>
/// <param name="Inner">What is boosted.</param>
/// <param name="Factor">The factor, above 0.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record BoostCondition(Condition Inner, Operand Factor, int Position) : Condition(Position);

/// <summary><c>fuzzy(field = text, similarity)</c>: terms that are that similar, by edit distance.</summary>
/// <param name="Inner">An equality.</param>
/// <param name="Similarity">From 0 to 1.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record FuzzyCondition(ComparisonCondition Inner, Operand Similarity, int Position) : Condition(Position);

/// <summary><c>proximity(search(…), distance)</c>: the terms within so many moves of words.</summary>
/// <param name="Inner">A search.</param>
/// <param name="Distance">Moves of words, from 0.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ProximityCondition(SearchCondition Inner, Operand Distance, int Position) : Condition(Position);

/// <summary><c>intersect(a, b, …)</c>: documents, of which some entry satisfies each.</summary>
/// <param name="Conditions">At least two.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record IntersectCondition(IReadOnlyList<Condition> Conditions, int Position) : Condition(Position);

/// <summary><c>moreLikeThis(document[, options])</c>.</summary>
/// <param name="Document">An id, a text of JSON, or a condition that finds one document.</param>
/// <param name="Condition">The condition that finds the document, instead of <paramref name="Document"/>.</param>
/// <param name="Options">A JSON text of options, or null.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record MoreLikeThisCondition(Operand? Document, Condition? Condition, Operand? Options, int Position)
    : Condition(Position);
