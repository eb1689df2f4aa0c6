using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary><c>select</c>.</summary>
public abstract record Selection;

/// <summary>Where a selection reads fields from, as the request asks.</summary>
public enum ProjectionBehavior
{
    /// <summary>From the index where it stores the field, else from the document; null where nothing stands.</summary>
    Default,

    /// <summary>From the index; what it does not store is left out.</summary>
    FromIndex,

    /// <summary>From the index; what it does not store is refused.</summary>
    FromIndexOrThrow,

    /// <summary>From the document; what does not stand there is left out.</summary>
    FromDocument,

    /// <summary>From the document; what does not stand there ends the query.</summary>
    FromDocumentOrThrow,
}

/// <summary><c>select a, b.c as D</c>, <c>select distinct a</c>, <c>select distinct *</c>.</summary>
/// <param name="Items">What each result holds; empty for the whole document.</param>
/// <param name="IsDistinct">Whether equal results are one.</param>
public sealed record FieldSelection(IReadOnlyList<SelectedField> Items, bool IsDistinct) : Selection;

/// <summary>A member of a projected result.</summary>
/// <param name="Source">Where its value comes from.</param>
/// <param name="Alias">Its name when <c>as</c> gives one, or null.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record SelectedField(SelectedSource Source, string? Alias, int Position);

/// <summary>Where the value of a projected member comes from.</summary>
public abstract record SelectedSource;

/// <summary>A field, an aggregate, <c>id()</c>.</summary>
/// <param name="Field">Which one.</param>
public sealed record SelectedReference(FieldReference Field) : SelectedSource;

/// <summary>A value as it is written.</summary>
/// <param name="Value">The value.</param>
public sealed record SelectedOperand(Operand Value) : SelectedSource;

/// <summary><c>facet(…)</c>: counts by value or by range. Such a query has nothing else in its selection.</summary>
/// <param name="Field">By whose values; null when ranges are given.</param>
/// <param name="Ranges">One bucket each, in order; empty for one bucket a value.</param>
/// <param name="Aggregates">What is computed of each bucket.</param>
/// <param name="Options">A parameter or JSON text of options, or null.</param>
/// <param name="SetupDocument">The id of a stored set-up instead: <c>facet(id('facets/cameras'))</c>.</param>
public sealed record SelectedFacet(
    FieldPath? Field,
    IReadOnlyList<Condition> Ranges,
    IReadOnlyList<FacetAggregate> Aggregates,
    Operand? Options,
    Operand? SetupDocument
) : SelectedSource;

/// <summary>What is computed of each bucket of a facet.</summary>
/// <param name="Aggregate">How, and of what.</param>
/// <param name="Alias">Its name when <c>as</c> gives one, or null.</param>
public sealed record FacetAggregate(AggregateReference Aggregate, string? Alias);

/// <summary><c>suggest(field, term[, options])</c>.</summary>
/// <param name="Field">The field.</param>
/// <param name="Term">A text, or a parameter that holds one or several.</param>
/// <param name="Options">A parameter or JSON text of options, or null.</param>
public sealed record SelectedSuggestion(FieldPath Field, Operand Term, Operand? Options) : SelectedSource;

/// <summary><c>select { … }</c>: an object written as a script.</summary>
/// <param name="Script">What stands between the braces.</param>
public sealed record ScriptSelection(ScriptText Script) : Selection;

/// <summary><c>select f(u, p)</c>: a declared function.</summary>
/// <param name="Function">Its name.</param>
/// <param name="Arguments">Aliases, paths or values, as they were written.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record CallSelection(string Function, IReadOnlyList<ScriptText> Arguments, int Position) : Selection;
