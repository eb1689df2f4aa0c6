namespace Rookery.Queries.Language;

/// <summary>A value in a query's text.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public abstract record Operand(int Position);

/// <summary><c>null</c>.</summary>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record NullOperand(int Position) : Operand(Position);

/// <summary><c>true</c>, <c>false</c>.</summary>
/// <param name="Value">The value.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record BooleanOperand(bool Value, int Position) : Operand(Position);

/// <summary>A number.</summary>
/// <param name="Text">The number in JSON form, with the digits of the text.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record NumberOperand(string Text, int Position) : Operand(Position);

/// <summary>A text, with quotes and escapes resolved.</summary>
/// <param name="Value">The text.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record TextOperand(string Value, int Position) : Operand(Position);

/// <summary><c>$name</c>: the value comes with the request.</summary>
/// <param name="Name">The name, without the dollar sign.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record ParameterOperand(string Name, int Position) : Operand(Position);

/// <summary><c>cmpxchg(key)</c>: the compare-exchange value with that key, read when the query is planned.</summary>
/// <param name="Key">The key: a text or a parameter.</param>
/// <param name="Position">Its position in the query's text, in characters from 0.</param>
public sealed record CompareExchangeOperand(Operand Key, int Position) : Operand(Position);
