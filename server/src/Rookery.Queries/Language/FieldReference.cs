using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>A field or function in a condition, in <c>order by</c> or in a selection.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public abstract record FieldReference(int Position);

/// <summary>A field of a document, of an index row, or of a group (a key or an alias).</summary>
/// <param name="Path">The path.</param>
public sealed record PathReference(FieldPath Path) : FieldReference(Path.Position);

/// <summary><c>id()</c>, <c>id(alias)</c>.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record IdReference(int Position) : FieldReference(Position);

/// <summary><c>key()</c> of a grouped query: its only key, or an object of all keys.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record GroupKeyReference(int Position) : FieldReference(Position);

/// <summary><c>score()</c> in <c>order by</c> or in a selection.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ScoreReference(int Position) : FieldReference(Position);

/// <summary>
/// An aggregate: <c>count()</c>, <c>sum(path)</c>, <c>min(path)</c>, <c>max(path)</c> or <c>avg(path)</c>.
/// </summary>
/// <param name="Kind">The kind of aggregate.</param>
/// <param name="Path">The aggregated field; null for a count.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record AggregateReference(AggregateKind Kind, FieldPath? Path, int Position) : FieldReference(Position);
