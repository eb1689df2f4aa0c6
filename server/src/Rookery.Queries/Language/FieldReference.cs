using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;

namespace Rookery.Queries.Language;

/// <summary>What a condition, an order or a projection speaks of.</summary>
/// <param name="Position">Characters of the text before it.</param>
public abstract record FieldReference(int Position);

/// <summary>A field of the document, of a group (its key or an alias), or of an index's entry.</summary>
/// <param name="Path">Which one.</param>
public sealed record PathReference(FieldPath Path) : FieldReference(Path.Position);

/// <summary><c>id()</c>, <c>id(alias)</c>.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record IdReference(int Position) : FieldReference(Position);

/// <summary><c>key()</c> of a grouped query: its only key, or an object of all.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record GroupKeyReference(int Position) : FieldReference(Position);

/// <summary><c>score()</c> in a projection.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ScoreReference(int Position) : FieldReference(Position);

/// <summary><c>count()</c>, <c>sum(path)</c> and the like.</summary>
/// <param name="Kind">Which one.</param>
/// <param name="Path">What is summed; null for a count.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record AggregateReference(AggregateKind Kind, FieldPath? Path, int Position) : FieldReference(Position);
