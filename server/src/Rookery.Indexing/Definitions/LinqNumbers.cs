using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// The types of numbers that the text tells. C# gives both values of a <c>? :</c>, and all elements of an array, one
/// type: the widest. What stands in documents has a type of its own, and keeps it.
/// </summary>
internal static class LinqNumbers
{
    private const int MostLevels = 32;

    // A char has no cast of its own: it is a number only beside one.
    private const ScriptFunction Character = ScriptFunction.ToCharacter;

    /// <summary>A choice, whose numbers are of one type.</summary>
    public static ConditionalExpression Unified(ConditionalExpression choice) =>
        WidestOf([choice.Then, choice.Otherwise]) is { } cast
            ? choice with
            {
                Then = As(choice.Then, cast),
                Otherwise = As(choice.Otherwise, cast),
            }
            : choice;

    /// <summary>A value, or another one where it is nothing (<c>??</c>): both are of one type.</summary>
    public static LogicalExpression Unified(LogicalExpression choice) =>
        WidestOf([choice.Left, choice.Right]) is { } cast
            ? choice with
            {
                Left = As(choice.Left, cast),
                Right = As(choice.Right, cast),
            }
            : choice;

    /// <summary>An array, whose numbers are of one type.</summary>
    public static ArrayLiteral Unified(ArrayLiteral array) =>
        WidestOf(array.Elements) is { } cast
            ? array with
            {
                Elements = [.. array.Elements.Select(element => As(element, cast))],
            }
            : array;

    /// <summary>A number of the text as one of a type; what stands in documents as it is.</summary>
    public static Expression As(Expression value, ScriptFunction cast) =>
        cast != ScriptFunction.CastToText && CastOf(value) is { } known && known != cast
            ? new InvokeExpression(cast, [value], value.Position)
            : value;

    /// <summary>The cast to the widest type of values; null where one is unknown, or all have the same.</summary>
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
    /// The type of a number that the text tells, by the cast to it. Of a chain of operations only so far.
    /// </summary>
    private static ScriptFunction? CastOf(Expression value, int level = 0) =>
        value switch
        {
            _ when level > MostLevels => null,
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

    /// <summary>The wider type of two values; null where one is unknown.</summary>
    private static ScriptFunction? CommonOf(Expression left, Expression right, int level) =>
        CastOf(left, level) is { } first && CastOf(right, level) is { } second
            ? WidthOf(first) > WidthOf(second)
                ? first
                : second
            : null;

    /// <summary>What an operator makes of a type: of a char its number.</summary>
    private static ScriptFunction? Promoted(ScriptFunction? cast) =>
        cast is Character ? ScriptFunction.CastToInt : cast;
}
