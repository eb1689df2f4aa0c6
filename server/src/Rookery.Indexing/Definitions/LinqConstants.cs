using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Creates integer literals and folds constants as the C# compiler does. An integer is an <c>int</c> or a <c>long</c>.
/// A <c>char</c> is converted to <c>int</c>. An overflow is rejected, as by the compiler.
/// </summary>
internal static class LinqConstants
{
    /// <summary>Returns an integer literal: an <c>int</c> if the value fits, else a <c>long</c>.</summary>
    public static NumberLiteral Whole(long value, int position) => Of(value, value != (int)value, position);

    /// <summary>Returns a literal of type <c>long</c>.</summary>
    public static NumberLiteral Long(long value, int position) => Of(value, isLong: true, position);

    /// <summary>
    /// Returns the least value of <c>int</c> or <c>long</c>, if the number after a minus sign is one greater than the
    /// type's greatest value; otherwise null. As in C#, the literal must follow the minus directly:
    /// <c>-(2147483648)</c> is a <c>long</c>.
    /// </summary>
    public static NumberLiteral? MinOf(Token number)
    {
        if (number.Kind != TokenKind.Number)
        {
            return null;
        }

        if (number.Text is "2147483648")
        {
            return Whole(int.MinValue, number.Position);
        }

        if (number.Text.TrimEnd('l', 'L') is "9223372036854775808")
        {
            return Whole(long.MinValue, number.Position);
        }

        return null;
    }

    /// <summary>Returns the negated value: a constant is negated now, any other value when the script runs.</summary>
    /// <exception cref="ScriptException">The result overflows its type.</exception>
    public static Expression Negate(Expression operand, int position)
    {
        if (operand is NumberLiteral { Whole: null } real)
        {
            return real with { Value = -real.Value };
        }

        if (TryRead(operand, out long value, out bool isLong))
        {
            return Checked(-(Int128)value, isLong, position);
        }

        return new InvokeExpression(ScriptFunction.Negated, [operand], position);
    }

    /// <summary>Applies a plus sign: converts a character to its code, and returns any other value unchanged.</summary>
    public static Expression ApplyPlus(Expression operand, int position) =>
        operand is InvokeExpression && TryRead(operand, out long value, out _) ? Whole(value, position) : operand;

    /// <summary>
    /// Returns the sum, difference or product of two integer constants; null for other operators and operands.
    /// </summary>
    /// <exception cref="ScriptException">The result overflows its type.</exception>
    public static Expression? Fold(Token operatorToken, Expression left, Expression right)
    {
        if (
            operatorToken.Text is not ("+" or "-" or "*")
            || !TryRead(left, out long first, out bool isLong)
            || !TryRead(right, out long second, out bool isOtherLong)
        )
        {
            return null;
        }

        var result = operatorToken.Text switch
        {
            "+" => (Int128)first + second,
            "-" => (Int128)first - second,
            _ => (Int128)first * second,
        };
        return Checked(result, isLong || isOtherLong, operatorToken.Position);
    }

    /// <summary>
    /// Returns the result of casting an integer or double constant to an integer type; null in other cases.
    /// </summary>
    /// <exception cref="ScriptException">The value does not fit the type.</exception>
    public static Expression? Fold(ScriptFunction cast, Expression value, int position)
    {
        if (cast is not (ScriptFunction.CastToInt or ScriptFunction.CastToLong))
        {
            return null;
        }

        if (TryRead(value, out long whole, out _))
        {
            return Checked(whole, cast is ScriptFunction.CastToLong, position);
        }

        if (value is NumberLiteral { Whole: null, IsCSharp: true } real)
        {
            return Checked((Int128)real.Value, cast is ScriptFunction.CastToLong, position);
        }

        return null;
    }

    // Reads an integer literal or a character literal.
    private static bool TryRead(Expression expression, out long value, out bool isLong)
    {
        switch (expression)
        {
            case NumberLiteral { Whole: { } whole } number:
                (value, isLong) = (whole, number.IsLong);
                return true;
            case InvokeExpression
            {
                Function: ScriptFunction.ToCharacter,
                Arguments: [TextLiteral { Text: [var character] }]
            }:
                (value, isLong) = (character, false);
                return true;
            default:
                (value, isLong) = (0, false);
                return false;
        }
    }

    private static NumberLiteral Checked(Int128 value, bool isLong, int position)
    {
        if (isLong && value >= long.MinValue && value <= long.MaxValue)
        {
            return Of((long)value, isLong, position);
        }

        if (!isLong && value >= int.MinValue && value <= int.MaxValue)
        {
            return Of((long)value, isLong, position);
        }

        throw TokenCursor.NotSupported(
            isLong
                ? "whole numbers larger than a 'long'"
                : "numbers larger than their type: write one with an 'L' to calculate with longs",
            position
        );
    }

    private static NumberLiteral Of(long value, bool isLong, int position) =>
        new(value, position)
        {
            IsCSharp = true,
            Whole = value,
            IsLong = isLong,
        };
}
