namespace Rookery.Queries.Language;

/// <summary>A value that a query compares with, as it was written.</summary>
/// <param name="Position">Characters of the text before it.</param>
public abstract record Operand(int Position);

/// <summary><c>null</c>.</summary>
/// <param name="Position">Characters of the text before it.</param>
public sealed record NullOperand(int Position) : Operand(Position);

/// <summary><c>true</c>, <c>false</c>.</summary>
/// <param name="Value">Which one.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record BooleanOperand(bool Value, int Position) : Operand(Position);

/// <summary>A number.</summary>
/// <param name="Text">As it was written: digits, sign, fraction, exponent; JSON's form.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record NumberOperand(string Text, int Position) : Operand(Position);

/// <summary>A text, quotes and escapes resolved.</summary>
/// <param name="Value">The text.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record TextOperand(string Value, int Position) : Operand(Position);

/// <summary><c>$name</c>: the value comes with the request.</summary>
/// <param name="Name">Without the dollar sign.</param>
/// <param name="Position">Characters of the text before it.</param>
public sealed record ParameterOperand(string Name, int Position) : Operand(Position);
