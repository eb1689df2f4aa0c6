using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>The <c>select</c> clause.</summary>
public abstract record Selection;

/// <summary>Where a selection reads fields from. The request sets it.</summary>
public enum ProjectionBehavior
{
    /// <summary>From the index if it stores the field, else from the document. A missing field is null.</summary>
    Default,

    /// <summary>From the index. A field that it does not store is omitted.</summary>
    FromIndex,

    /// <summary>From the index. A field that it does not store is an error.</summary>
    FromIndexOrThrow,

    /// <summary>From the document. A missing field is omitted.</summary>
    FromDocument,

    /// <summary>From the document. A missing field is an error.</summary>
    FromDocumentOrThrow,
}

/// <summary><c>select a, b.c as D</c>, <c>select distinct a</c>, <c>select distinct *</c>.</summary>
/// <param name="Items">The selected members; empty for the whole document.</param>
/// <param name="IsDistinct">Whether equal results are returned once.</param>
public sealed record FieldSelection(IReadOnlyList<SelectedField> Items, bool IsDistinct) : Selection;

/// <summary>A member of a projected result.</summary>
/// <param name="Source">The source of its value.</param>
/// <param name="Alias">Its name (<c>as</c>); null if there is none.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record SelectedField(SelectedSource Source, string? Alias, int Position);

/// <summary>The source of a selected member's value.</summary>
public abstract record SelectedSource;

/// <summary>A field, or a function such as an aggregate or <c>id()</c>.</summary>
/// <param name="Field">The field or function.</param>
public sealed record SelectedReference(FieldReference Field) : SelectedSource;

/// <summary>A literal value or a parameter.</summary>
/// <param name="Value">The value.</param>
public sealed record SelectedOperand(Operand Value) : SelectedSource;

/// <summary>
/// <c>facet(…)</c>: counts results by value or by range. A selection with facets contains only facets.
/// </summary>
/// <param name="Field">The field to count by; null if ranges are given.</param>
/// <param name="Ranges">The ranges, one bucket each; empty for one bucket per value.</param>
/// <param name="Aggregates">The aggregates of each bucket.</param>
/// <param name="Options">The options, as a parameter or JSON text; null for none.</param>
/// <param name="SetupDocument">The id of a stored setup that replaces the facet: <c>facet(id('facets/cameras'))</c>;
/// null if there is none.</param>
public sealed record SelectedFacet(
    FieldPath? Field,
    IReadOnlyList<Condition> Ranges,
    IReadOnlyList<FacetAggregate> Aggregates,
    Operand? Options,
    Operand? SetupDocument
) : SelectedSource;

/// <summary>An aggregate of each bucket of a facet.</summary>
/// <param name="Aggregate">The aggregate.</param>
/// <param name="Alias">Its name (<c>as</c>); null if there is none.</param>
public sealed record FacetAggregate(AggregateReference Aggregate, string? Alias);

/// <summary><c>suggest(field, term[, options])</c>: finds words of a field that are similar to given words.</summary>
/// <param name="Field">The field.</param>
/// <param name="Term">A text, or a parameter that holds one text or a list.</param>
/// <param name="Options">The options, as a parameter or JSON text; null for none.</param>
public sealed record SelectedSuggestion(FieldPath Field, Operand Term, Operand? Options) : SelectedSource;

/// <summary><c>counter(name)</c>, <c>counter(alias, name)</c>: the value of a counter; null if it does not
/// exist.</summary>
/// <param name="Of">The alias of the document that has the counter, as written; null for the queried document.</param>
/// <param name="Name">The name of the counter.</param>
public sealed record SelectedCounter(string? Of, Operand Name) : SelectedSource;

/// <summary><c>select { … }</c>: a script that computes an object.</summary>
/// <param name="Script">The script between the braces.</param>
public sealed record ScriptSelection(ScriptText Script) : Selection;

/// <summary><c>select f(u, p)</c>: a call of a declared function.</summary>
/// <param name="Function">The name of the function.</param>
/// <param name="Arguments">The arguments.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record CallSelection(string Function, IReadOnlyList<CallArgument> Arguments, int Position) : Selection;

/// <summary>An argument of a call: an alias, a path or a value.</summary>
/// <param name="Written">The argument as written.</param>
/// <param name="Value">The value; null for an alias or a path.</param>
public sealed record CallArgument(ScriptText Written, Operand? Value);
