using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// The whole numbers that C# computes with while it compiles: an <c>int</c> or a <c>long</c>, as a <c>char</c> is the
/// former. What is larger than its type is refused, as the compiler refuses it.
/// </summary>
internal static class LinqConstants
{
    /// <summary>A whole number: an <c>int</c> where it is none too large.</summary>
    public static NumberLiteral Whole(long value, int position) => Of(value, value != (int)value, position);

    /// <summary>A <c>long</c>, however small.</summary>
    public static NumberLiteral Long(long value, int position) => Of(value, isLong: true, position);

    /// <summary>
    /// The least number of a type where a minus stands before a number that is one too large for it; else null. The
    /// compiler reads only both together so: <c>-(2147483648)</c> is a <c>long</c>.
    /// </summary>
    public static NumberLiteral? LeastOf(Token number) =>
        number.Kind != TokenKind.Number ? null
        : number.Text is "2147483648" ? Whole(int.MinValue, number.Position)
        : number.Text.TrimEnd('l', 'L') is "9223372036854775808" ? Whole(long.MinValue, number.Position)
        : null;

    /// <summary>The negative of a value.</summary>
    /// <exception cref="ScriptException">It is larger than its type.</exception>
    public static Expression Negated(Expression operand, int position) =>
        operand is NumberLiteral { Whole: null } real ? real with { Value = -real.Value }
        : TryRead(operand, out long value, out bool isLong) ? Checked(-(Int128)value, isLong, position)
        : new InvokeExpression(ScriptFunction.Negated, [operand], position);

    /// <summary>A value behind a plus: of a char its number.</summary>
    public static Expression Positive(Expression operand, int position) =>
        operand is InvokeExpression && TryRead(operand, out long value, out _) ? Whole(value, position) : operand;

    /// <summary>A sum, difference or product of two whole numbers of the text; null of others.</summary>
    /// <exception cref="ScriptException">It is larger than its type.</exception>
    public static Expression? Folded(Token mark, Expression left, Expression right)
    {
        if (
            mark.Text is not ("+" or "-" or "*")
            || !TryRead(left, out long first, out bool isLong)
            || !TryRead(right, out long second, out bool isOtherLong)
        )
        {
            return null;
        }

        var result = mark.Text switch
        {
            "+" => (Int128)first + second,
            "-" => (Int128)first - second,
            _ => (Int128)first * second,
        };
        return Checked(result, isLong || isOtherLong, mark.Position);
    }

    /// <summary>A cast of a whole number or double of the text to a whole number; null of others.</summary>
    /// <exception cref="ScriptException">It is larger than the type.</exception>
    public static Expression? Folded(ScriptFunction cast, Expression value, int position) =>
        cast is not (ScriptFunction.CastToInt or ScriptFunction.CastToLong) ? null
        : TryRead(value, out long whole, out _) ? Checked(whole, cast is ScriptFunction.CastToLong, position)
        : value is NumberLiteral { Whole: null, IsCSharp: true } real
            ? Checked((Int128)real.Value, cast is ScriptFunction.CastToLong, position)
        : null;

    private static bool TryRead(Expression expression, out long value, out bool isLong)
    {
        (value, isLong) = expression switch
        {
            NumberLiteral { Whole: { } whole } number => (whole, number.IsLong),
            InvokeExpression
            {
                Function: ScriptFunction.ToCharacter,
                Arguments: [TextLiteral { Text: [var character] }]
            } => (character, false),
            _ => (0, true),
        };
        return expression is NumberLiteral { Whole: not null } || !isLong;
    }

    private static NumberLiteral Checked(Int128 value, bool isLong, int position) =>
        isLong && value >= long.MinValue && value <= long.MaxValue ? Of((long)value, isLong, position)
        : !isLong && value >= int.MinValue && value <= int.MaxValue ? Of((long)value, isLong, position)
        : throw TokenCursor.NotSupported(
            isLong
                ? "whole numbers larger than a 'long'"
                : "numbers larger than their type: write one with an 'L' to calculate with longs",
            position
        );

    private static NumberLiteral Of(long value, bool isLong, int position) =>
        new(value, position)
        {
            IsCSharp = true,
            Whole = value,
            IsLong = isLong,
        };
}
