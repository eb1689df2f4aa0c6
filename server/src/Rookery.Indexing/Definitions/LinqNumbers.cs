using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Infers the exact types of values from the text, and converts numbers as the C# compiler does: both values of
/// <c>? :</c>, and all elements of an array, to the widest of their types. Numbers in documents keep their own type.
/// </summary>
/// <remarks>
/// An exact type is represented by the function that converts to it or makes its values: <c>CastToInt</c> is an
/// <c>int</c>, <c>ToCharacter</c> a <c>char</c>, <c>Condition</c> a <c>bool</c>, <c>NewDate</c> a <c>DateTime</c>,
/// <c>NewSpan</c> a <c>TimeSpan</c>.
/// </remarks>
internal sealed class LinqNumbers(LinqTypes types)
{
    private const int MaxLevels = 32;

    // The type char, which no cast converts to. A char is converted only if the other value is a number.
    private const ScriptFunction Character = ScriptFunction.ToCharacter;

    // Each expression is examined once: without this, nested sequences would take exponential time.
    private readonly Dictionary<Expression, ScriptFunction?> _known = new(ReferenceEqualityComparer.Instance);

    /// <summary>Returns the conditional expression with both values of one type.</summary>
    public ConditionalExpression Unify(ConditionalExpression choice) =>
        WidestOf([choice.Then, choice.Otherwise]) is { } cast
            ? choice with
            {
                Then = ConvertTo(choice.Then, cast),
                Otherwise = ConvertTo(choice.Otherwise, cast),
            }
            : choice;

    /// <summary>Returns the <c>??</c> expression with both values of one type.</summary>
    public LogicalExpression Unify(LogicalExpression choice) =>
        WidestOf([choice.Left, choice.Right]) is { } cast
            ? choice with
            {
                Left = ConvertTo(choice.Left, cast),
                Right = ConvertTo(choice.Right, cast),
            }
            : choice;

    /// <summary>Returns the array literal with all numbers of one type.</summary>
    public ArrayLiteral Unify(ArrayLiteral array) =>
        WidestOf(array.Elements) is { } cast
            ? array with
            {
                Elements = [.. array.Elements.Select(element => ConvertTo(element, cast))],
            }
            : array;

    /// <summary>Returns the array literal with all elements of the type that the text names.</summary>
    /// <param name="array">The literal.</param>
    /// <param name="cast">The cast to the type.</param>
    /// <param name="isNullable">Whether elements may be null.</param>
    public ArrayLiteral ConvertAll(ArrayLiteral array, ScriptFunction cast, bool isNullable) =>
        array with
        {
            Elements = [.. array.Elements.Select(element => ConvertElement(element, cast))],
            ElementType = isNullable && cast is not ScriptFunction.CastToText ? null : cast,
            HasNullableElements = isNullable,
        };

    /// <summary>
    /// Returns a value converted to the element type of its sequence. If the text does not determine the type of the
    /// value, the conversion fails when it runs on a value that C# does not convert.
    /// </summary>
    /// <exception cref="ScriptException">C# does not convert the value's type to the element type.</exception>
    public Expression ConvertElement(Expression value, ScriptFunction type)
    {
        if (ExactOf(value) is { } exact)
        {
            return exact == type || !IsNumber(type) || IsWidening(exact, type)
                ? ConvertTo(value, type)
                : throw TokenCursor.NotSupported(
                    $"{NameOf(exact)} among elements that are each {NameOf(type)}, for which C# requires a cast",
                    value.Position
                );
        }

        bool isConverted = value is WordLiteral || (type is ScriptFunction.CastToText && types.IsText(value));
        return !isConverted && ImplicitTo(type) is { } conversion
            ? new InvokeExpression(conversion, [value], value.Position)
            : value;
    }

    /// <summary>
    /// Returns the result of the function of <c>Aggregate</c> converted to the type of the accumulator. If the text
    /// does not determine the type of the result, the result is converted to <c>float</c>, <c>double</c> and
    /// <c>decimal</c>, which accept every number, but not to <c>int</c> and <c>long</c>: a sum of prices may begin with
    /// 0.
    /// </summary>
    /// <param name="value">The result.</param>
    /// <param name="exact">The type of the result; null if the text does not determine it.</param>
    /// <param name="accumulator">The type of the first value.</param>
    /// <exception cref="ScriptException">
    /// C# does not convert the type of the result to the type of the accumulator.
    /// </exception>
    public static Expression ConvertFolded(Expression value, ScriptFunction? exact, ScriptFunction accumulator)
    {
        if (exact is not { } known)
        {
            bool acceptsEveryNumber =
                accumulator
                is ScriptFunction.CastToFloat
                    or ScriptFunction.CastToDouble
                    or ScriptFunction.CastToDecimal;
            return acceptsEveryNumber && value is not WordLiteral
                ? new InvokeExpression(accumulator, [value], value.Position)
                : value;
        }

        if (known == accumulator || !IsNumber(accumulator))
        {
            return value;
        }

        return IsWidening(known, accumulator)
            ? new InvokeExpression(accumulator, [value], value.Position)
            : throw TokenCursor.NotSupported(
                $"'Aggregate' whose accumulator is {NameOf(accumulator)} and whose function returns {NameOf(known)}, "
                    + "for which C# requires a cast",
                value.Position
            );
    }

    /// <summary>Returns whether C# converts a type to a type of numbers without a cast.</summary>
    private static bool IsWidening(ScriptFunction from, ScriptFunction to) =>
        IsNumber(from)
        && WidthOf(from) < WidthOf(to)
        && !(to is ScriptFunction.CastToDecimal && from is ScriptFunction.CastToFloat or ScriptFunction.CastToDouble);

    /// <summary>
    /// Returns the conversion that C# makes without a cast from a value of a document; null for types to which the
    /// value is not converted.
    /// </summary>
    private static ScriptFunction? ImplicitTo(ScriptFunction type) =>
        type switch
        {
            ScriptFunction.CastToInt => ScriptFunction.FitInt,
            ScriptFunction.CastToLong => ScriptFunction.FitLong,
            ScriptFunction.CastToFloat
            or ScriptFunction.CastToDouble
            or ScriptFunction.CastToDecimal
            or ScriptFunction.CastToText => type,
            _ => null,
        };

    private static string NameOf(ScriptFunction type) =>
        type switch
        {
            Character => "a char",
            ScriptFunction.CastToInt => "an int",
            ScriptFunction.CastToLong => "a long",
            ScriptFunction.CastToFloat => "a float",
            ScriptFunction.CastToDouble => "a double",
            ScriptFunction.CastToDecimal => "a decimal",
            ScriptFunction.Condition => "a bool",
            ScriptFunction.NewDate => "a date",
            _ => "a time span",
        };

    /// <summary>
    /// Returns the exact type of a value; null if the text does not determine it. Expressions nested deeper than
    /// <see cref="MaxLevels"/> have no known type.
    /// </summary>
    public ScriptFunction? ExactOf(Expression value, int level = 0)
    {
        if (value is NameExpression name)
        {
            return types.Find(name.Name)?.Exact;
        }

        if (level > MaxLevels)
        {
            return null;
        }

        if (!_known.TryGetValue(value, out var exact))
        {
            exact = FindExact(value, level + 1);
            _known.Add(value, exact);
        }

        return exact;
    }

    /// <summary>
    /// Returns whether one of two values is known to be a number, and the type of the other value is unknown.
    /// </summary>
    public bool IsNumberBesideUnknown(Expression first, Expression second) =>
        IsNumberBeside(first, second) || IsNumberBeside(second, first);

    private bool IsNumberBeside(Expression number, Expression other) =>
        ExactOf(number) is { } type
        && IsNumber(type)
        && type is not Character
        && ExactOf(other) is null
        && other is not WordLiteral
        && !types.IsText(other);

    private static bool IsNumber(ScriptFunction type) =>
        type is >= ScriptFunction.CastToLong and <= ScriptFunction.CastToDecimal or Character;

    /// <summary>
    /// Returns a number of known type converted to another type; other values are returned unchanged.
    /// </summary>
    private Expression ConvertTo(Expression value, ScriptFunction cast) =>
        IsNumber(cast) && ExactOf(value) is { } known && IsNumber(known) && known != cast
            ? new InvokeExpression(cast, [value], value.Position)
            : value;

    /// <summary>
    /// Returns the cast to the widest type of the values; null if a type is unknown or all types are the same.
    /// </summary>
    private ScriptFunction? WidestOf(IReadOnlyList<Expression> values)
    {
        ScriptFunction? widest = null;
        bool isMixed = false;
        foreach (var value in values)
        {
            if (ExactOf(value) is not { } cast || !IsNumber(cast))
            {
                return null;
            }

            isMixed |= widest is { } before && before != cast;
            widest = widest is { } known && WidthOf(known) >= WidthOf(cast) ? known : cast;
        }

        bool isDecimal = widest is ScriptFunction.CastToDecimal;
        if (
            isDecimal
            && values.FirstOrDefault(value =>
                ExactOf(value) is ScriptFunction.CastToFloat or ScriptFunction.CastToDouble
            )
                is { } real
        )
        {
            throw TokenCursor.NotSupported(
                "a decimal and a double in one place, for which C# requires a cast",
                real.Position
            );
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

    private ScriptFunction? FindExact(Expression value, int level) =>
        value switch
        {
            NumberLiteral { Whole: null } => ScriptFunction.CastToDouble,
            NumberLiteral number => number.IsLong ? ScriptFunction.CastToLong : ScriptFunction.CastToInt,
            WordLiteral { Push: Opcode.PushTrue or Opcode.PushFalse } or UnaryExpression { Operator: Opcode.Not } =>
                ScriptFunction.Condition,
            ConditionalExpression choice => CommonOf(choice.Then, choice.Otherwise, level),
            LogicalExpression { Keep: Opcode.JumpKeepingValue } choice => CommonOf(choice.Left, choice.Right, level),
            LogicalExpression => ScriptFunction.Condition,
            CallExpression { Callee: MemberExpression { Name: "some" or "every" } } => ScriptFunction.Condition,
            CallExpression
            {
                Callee: MemberExpression { Name: "reduce" },
                Arguments: [LambdaExpression fold, var seed]
            } => OfFold(fold, level) is null ? null : ExactOf(seed, level),
            InvokeExpression invoke => FindExact(invoke, level),
            _ => null,
        };

    private ScriptFunction? FindExact(InvokeExpression invoke, int level) =>
        invoke.Function switch
        {
            (>= ScriptFunction.CastToLong and <= ScriptFunction.CastToDecimal)
            or Character
            or ScriptFunction.Condition
            or ScriptFunction.NewDate
            or ScriptFunction.NewSpan => invoke.Function,
            ScriptFunction.ElementAt when IsText(invoke.Arguments[0], level) => Character,
            ScriptFunction.ElementAt
            or ScriptFunction.ElementAtOrNothing
            or (>= ScriptFunction.FirstOf and <= ScriptFunction.OnlyOrNothing)
            or ScriptFunction.Least
            or ScriptFunction.Greatest
            or ScriptFunction.Sum => types.ElementOf(invoke.Arguments[0])?.Exact,
            ScriptFunction.Average => types.ElementOf(invoke.Arguments[0])?.Exact switch
            {
                ScriptFunction.CastToInt or ScriptFunction.CastToLong => ScriptFunction.CastToDouble,
                var same => same,
            },
            ScriptFunction.ParseInt
            or ScriptFunction.FitInt
            or ScriptFunction.ConvertToInt
            or ScriptFunction.Count
            or ScriptFunction.CSharpSign
            or ScriptFunction.CompareOrdinal
            or ScriptFunction.CompareTo => ScriptFunction.CastToInt,
            ScriptFunction.CSharpIndexOf or ScriptFunction.CSharpLastIndexOf when IsText(invoke.Arguments[0], level) =>
                ScriptFunction.CastToInt,
            ScriptFunction.Property when invoke.Arguments is [var target, TextLiteral name] => OfMember(
                target,
                name.Text,
                level
            ),
            ScriptFunction.ParseLong or ScriptFunction.FitLong or ScriptFunction.ConvertToLong =>
                ScriptFunction.CastToLong,
            ScriptFunction.ParseDouble
            or ScriptFunction.ConvertToDouble
            or ScriptFunction.Power
            or ScriptFunction.SquareRoot => ScriptFunction.CastToDouble,
            ScriptFunction.ParseDecimal or ScriptFunction.ConvertToDecimal => ScriptFunction.CastToDecimal,
            ScriptFunction.SpanFrom or ScriptFunction.ParseSpan => ScriptFunction.NewSpan,
            ScriptFunction.AddTo when invoke.Arguments[2] is not TextLiteral { Text: "Subtract" } => TimeOf(
                invoke.Arguments[0],
                level
            ),
            ScriptFunction.Negated or ScriptFunction.CSharpAbsolute => Promoted(ExactOf(invoke.Arguments[0], level)),
            >= ScriptFunction.CSharpRound and <= ScriptFunction.CSharpTruncate => ExactOf(
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
            or ScriptFunction.CSharpMaximum => Promoted(
                NumberOf(CommonOf(invoke.Arguments[0], invoke.Arguments[1], level))
            ),
            (>= ScriptFunction.IsSame and <= ScriptFunction.IsGreaterOrEqual)
            or ScriptFunction.ParseBoolean
            or ScriptFunction.ConvertToBoolean
            or (>= ScriptFunction.CSharpIncludes and <= ScriptFunction.CSharpEndsWith)
            or ScriptFunction.IsNullOrEmpty
            or ScriptFunction.IsNullOrWhiteSpace
            or ScriptFunction.IsEqual
            or ScriptFunction.AreEqualObjects
            or ScriptFunction.IsSameText
            or ScriptFunction.ContainsKey
            or ScriptFunction.IsSameSequence => ScriptFunction.Condition,
            _ => null,
        };

    /// <summary>
    /// Returns the type of the result of a lambda. It was recorded while the parameters were known, unless the result
    /// was converted afterwards.
    /// </summary>
    private ScriptFunction? OfFold(LambdaExpression fold, int level)
    {
        if (types.ResultOf(fold) is { } recorded)
        {
            return recorded.Exact;
        }

        return fold.Value is InvokeExpression converted ? ExactOf(converted, level) : null;
    }

    /// <summary>Returns the type of a member of a date, time span or string.</summary>
    private ScriptFunction? OfMember(Expression target, string name, int level)
    {
        if (name is "Length" && IsText(target, level))
        {
            return ScriptFunction.CastToInt;
        }

        return (TimeOf(target, level), name) switch
        {
            (null, _) => null,
            (ScriptFunction.NewDate, "Date") => ScriptFunction.NewDate,
            (ScriptFunction.NewDate, "TimeOfDay") => ScriptFunction.NewSpan,
            (_, "DayOfWeek") => null,
            (_, "Ticks") => ScriptFunction.CastToLong,
            _ when name.StartsWith("Total", StringComparison.Ordinal) => ScriptFunction.CastToDouble,
            _ => ScriptFunction.CastToInt,
        };
    }

    private bool IsText(Expression value, int level) =>
        value is TextLiteral || (level < MaxLevels && types.Of(value).Kinds is LinqKinds.Text);

    /// <summary>Returns the type of a date or time span; null for other types.</summary>
    private ScriptFunction? TimeOf(Expression value, int level) =>
        ExactOf(value, level) is ScriptFunction.NewDate or ScriptFunction.NewSpan ? ExactOf(value, level) : null;

    private static ScriptFunction? NumberOf(ScriptFunction? type) => type is { } known && IsNumber(known) ? type : null;

    /// <summary>Returns the wider type of two values; null if a type is unknown or they have no common type.</summary>
    private ScriptFunction? CommonOf(Expression left, Expression right, int level)
    {
        if (ExactOf(left, level) is not { } first || ExactOf(right, level) is not { } second)
        {
            return null;
        }

        if (!IsNumber(first) || !IsNumber(second))
        {
            return first == second ? first : null;
        }

        return WidthOf(first) > WidthOf(second) ? first : second;
    }

    /// <summary>Returns the type of an operator's result for an operand type: a char becomes an int.</summary>
    private static ScriptFunction? Promoted(ScriptFunction? cast) =>
        cast is Character ? ScriptFunction.CastToInt : cast;
}
