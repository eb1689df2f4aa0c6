using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Infers the types of numbers from the text. C# converts both values of <c>? :</c>, and all elements of an array, to
/// the widest of their types. Numbers in documents keep their own type.
/// </summary>
internal static class LinqNumbers
{
    private const int MaxLevels = 32;

    // The type char, which no cast converts to. A char is converted only if the other value is a number.
    private const ScriptFunction Character = ScriptFunction.ToCharacter;

    /// <summary>Returns the conditional expression with both values of one type.</summary>
    public static ConditionalExpression Unify(ConditionalExpression choice) =>
        WidestOf([choice.Then, choice.Otherwise]) is { } cast
            ? choice with
            {
                Then = ConvertTo(choice.Then, cast),
                Otherwise = ConvertTo(choice.Otherwise, cast),
            }
            : choice;

    /// <summary>Returns the <c>??</c> expression with both values of one type.</summary>
    public static LogicalExpression Unify(LogicalExpression choice) =>
        WidestOf([choice.Left, choice.Right]) is { } cast
            ? choice with
            {
                Left = ConvertTo(choice.Left, cast),
                Right = ConvertTo(choice.Right, cast),
            }
            : choice;

    /// <summary>Returns the array literal with all numbers of one type.</summary>
    public static ArrayLiteral Unify(ArrayLiteral array) =>
        WidestOf(array.Elements) is { } cast
            ? array with
            {
                Elements = [.. array.Elements.Select(element => ConvertTo(element, cast))],
            }
            : array;

    /// <summary>
    /// Returns a number of known type converted to another type; other values are returned unchanged.
    /// </summary>
    public static Expression ConvertTo(Expression value, ScriptFunction cast) =>
        cast != ScriptFunction.CastToText && CastOf(value) is { } known && known != cast
            ? new InvokeExpression(cast, [value], value.Position)
            : value;

    /// <summary>
    /// Returns the cast to the widest type of the values; null if a type is unknown or all types are the same.
    /// </summary>
    private static ScriptFunction? WidestOf(IReadOnlyList<Expression> values)
    {
        ScriptFunction? widest = null;
        bool isMixed = false;
        foreach (var value in values)
        {
            if (CastOf(value) is not { } cast)
            {
                return null;
            }

            isMixed |= widest is { } before && before != cast;
            widest = widest is { } known && WidthOf(known) >= WidthOf(cast) ? known : cast;
        }

        return isMixed ? widest : null;
    }

    private static int WidthOf(ScriptFunction cast) =>
        cast switch
        {
            Character => -1,
            ScriptFunction.CastToInt => 0,
            ScriptFunction.CastToLong => 1,
            ScriptFunction.CastToFloat => 2,
            ScriptFunction.CastToDouble => 3,
            _ => 4,
        };

    /// <summary>
    /// Returns the type of a number, represented by the cast to it; null if the text does not determine the type.
    /// Expressions nested deeper than <see cref="MaxLevels"/> have no known type.
    /// </summary>
    private static ScriptFunction? CastOf(Expression value, int level = 0) =>
        value switch
        {
            _ when level > MaxLevels => null,
            NumberLiteral { Whole: null } => ScriptFunction.CastToDouble,
            NumberLiteral number => number.IsLong ? ScriptFunction.CastToLong : ScriptFunction.CastToInt,
            ConditionalExpression choice => CommonOf(choice.Then, choice.Otherwise, level + 1),
            LogicalExpression { Keep: Opcode.JumpKeepingValue } choice => CommonOf(
                choice.Left,
                choice.Right,
                level + 1
            ),
            InvokeExpression invoke => CastOf(invoke, level + 1),
            _ => null,
        };

    private static ScriptFunction? CastOf(InvokeExpression invoke, int level) =>
        invoke.Function switch
        {
            >= ScriptFunction.CastToLong and <= ScriptFunction.CastToDecimal or Character => invoke.Function,
            ScriptFunction.ElementAt when invoke.Arguments[0] is TextLiteral => Character,
            ScriptFunction.ParseInt
            or ScriptFunction.ConvertToInt
            or ScriptFunction.Count
            or ScriptFunction.CSharpSign
            or ScriptFunction.CompareOrdinal => ScriptFunction.CastToInt,
            ScriptFunction.ParseLong or ScriptFunction.ConvertToLong => ScriptFunction.CastToLong,
            ScriptFunction.ParseDouble
            or ScriptFunction.ConvertToDouble
            or ScriptFunction.Power
            or ScriptFunction.SquareRoot => ScriptFunction.CastToDouble,
            ScriptFunction.ParseDecimal or ScriptFunction.ConvertToDecimal => ScriptFunction.CastToDecimal,
            ScriptFunction.Negated or ScriptFunction.CSharpAbsolute => Promoted(CastOf(invoke.Arguments[0], level)),
            >= ScriptFunction.CSharpRound and <= ScriptFunction.CSharpTruncate => CastOf(
                invoke.Arguments[0],
                level
            ) switch
            {
                null => null,
                ScriptFunction.CastToDecimal => ScriptFunction.CastToDecimal,
                _ => ScriptFunction.CastToDouble,
            },
            >= ScriptFunction.Plus
            and <= ScriptFunction.Modulo
            or ScriptFunction.CSharpMinimum
            or ScriptFunction.CSharpMaximum => Promoted(CommonOf(invoke.Arguments[0], invoke.Arguments[1], level)),
            _ => null,
        };

    /// <summary>Returns the wider type of two values; null when one is unknown.</summary>
    private static ScriptFunction? CommonOf(Expression left, Expression right, int level)
    {
        if (CastOf(left, level) is { } first && CastOf(right, level) is { } second)
        {
            if (WidthOf(first) > WidthOf(second))
            {
                return first;
            }

            return second;
        }

        return null;
    }

    /// <summary>Returns the type of an operator's result for an operand type: a char becomes an int.</summary>
    private static ScriptFunction? Promoted(ScriptFunction? cast) =>
        cast is Character ? ScriptFunction.CastToInt : cast;
}
