using System.Buffers.Text;
using System.Globalization;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Numbers of C#: types, casts, conversions and <c>Math</c>.</content>
public sealed partial class ScriptInterpreter
{
    private const int StepsPerPower = 64;

    /// <summary>Whether a conversion takes a <c>char</c> for its number.</summary>
    private static bool IsOfNumbers(ScriptFunction function) =>
        function
            is ScriptFunction.Negated
                or (>= ScriptFunction.CastToLong and <= ScriptFunction.CastToDecimal)
                or ScriptFunction.ConvertToLong
                or ScriptFunction.ConvertToInt;

    /// <summary>The number of a <c>char</c>.</summary>
    private ScriptValue CodeOf(ScriptValue character) => ScriptValue.OfInt(NetText(character)[0]);

    /// <summary>
    /// The number of a value that is one. One of a document is a <c>long</c> or a <c>double</c>, as it is written;
    /// one of a loop that counts is an <c>int</c>.
    /// </summary>
    private CSharpNumber NumeralOf(ScriptValue value)
    {
        switch (value.Kind)
        {
            case ValueKind.Whole:
                return value.Trait == ValueTrait.Int
                    ? new CSharpNumber((int)value.Whole)
                    : new CSharpNumber(value.Whole);
            case ValueKind.Real when value.Trait == ValueTrait.Single:
                return new CSharpNumber((float)value.Double);
            case ValueKind.Number when value.Double == (int)value.Double:
                return new CSharpNumber((int)value.Double);
            case ValueKind.StoredNumber
                when Utf8Parser.TryParse(_heap.Span(value), out long whole, out int read) && read == value.Length:
                return new CSharpNumber(whole);
            case ValueKind.Decimal:
                return new CSharpNumber(DecimalOf(value));
            default:
                return new CSharpNumber(_heap.NumberOf(value));
        }
    }

    /// <summary>The decimal of a number: of one in a document its digits.</summary>
    private decimal DecimalOf(ScriptValue value)
    {
        if (value.Kind is not (ValueKind.StoredNumber or ValueKind.Decimal))
        {
            return NumeralOf(value).Decimal;
        }

        _heap.SpendOnDigits(value.Length);
        return decimal.Parse(_heap.Span(value), NumberStyles.Float, CultureInfo.InvariantCulture);
    }

    private ScriptValue Value(CSharpNumber number)
    {
        switch (number.Type)
        {
            case CSharpNumberType.Int:
                return ScriptValue.OfInt((int)number.Whole);
            case CSharpNumberType.Whole:
                return ScriptValue.OfWhole(number.Whole);
            case CSharpNumberType.Single:
                return ScriptValue.OfSingle((float)number.Real);
            case CSharpNumberType.Real:
                return ScriptValue.OfReal(number.Real);
            default:
                const int MostDigits = 32;
                int start = _heap.Length;
                number.Decimal.TryFormat(
                    _heap.Reserve(MostDigits),
                    out int length,
                    default,
                    CultureInfo.InvariantCulture
                );
                _heap.Advance(length);
                return ScriptValue.InHeap(ValueKind.Decimal, start, length);
        }
    }

    private ScriptValue Convert(ScriptFunction function, ScriptValue value, ReadOnlySpan<ScriptValue> rest)
    {
        if (function == ScriptFunction.Condition)
        {
            return value.Kind is ValueKind.True || value.IsNothing || value.Kind is ValueKind.False
                ? ScriptValue.Of(value.Kind == ValueKind.True)
                : throw new ScriptFailure($"a condition is {NameOf(value)}");
        }

        if (value.IsNothing)
        {
            return ScriptValue.Null;
        }

        if (
            function is ScriptFunction.CastToInt or ScriptFunction.CastToLong
            && value.IsText
            && NetText(value) is [>= 'A' and <= 'Z', ..] name
            && Enum.TryParse<DayOfWeek>(name, out var day)
        )
        {
            return ScriptValue.OfInt((int)day);
        }

        if (value.Trait == ValueTrait.Character && IsOfNumbers(function))
        {
            value = CodeOf(value);
        }

        switch (function)
        {
            case ScriptFunction.Negated when TimeOf(value) is { IsSpan: true } span:
                return ScriptValue.OfSpan(checked(-span.Span));
            case ScriptFunction.Negated:
                var operand = Required(value, "-");
                return Value(
                    operand.Type switch
                    {
                        CSharpNumberType.Real => new CSharpNumber(-operand.Real),
                        CSharpNumberType.Single => new CSharpNumber(-(float)operand.Real),
                        _ => CSharpNumber.Calculate(ScriptFunction.Minus, new CSharpNumber(0), operand),
                    }
                );
            case ScriptFunction.CastToDouble:
                return ScriptValue.OfReal(Required(value, "a cast").Real);
            case ScriptFunction.CastToFloat:
                return ScriptValue.OfSingle((float)Required(value, "a cast").Real);
            case ScriptFunction.CastToDecimal:
                Required(value, "a cast");
                return Value(new CSharpNumber(DecimalOf(value)));
            case ScriptFunction.CastToLong:
                return ScriptValue.OfWhole(Required(value, "a cast").Cut);
            case ScriptFunction.CastToInt:
                var cut = Required(value, "a cast");
                return ScriptValue.OfInt(
                    cut.IsWhole ? unchecked((int)cut.Whole)
                    : cut.IsReal ? (int)cut.Real
                    : (int)cut.Decimal
                );
            case ScriptFunction.CSharpText:
                return rest.IsEmpty || rest[0].IsNothing
                    ? CSharpTextOf(value)
                    : NewText(Format(value, NetText(rest[0])));
            case ScriptFunction.CastToText:
                return value.IsText
                    ? _heap.Plain(value).With(ValueTrait.None)
                    : throw new ScriptFailure(
                        $"the script casts {NameOf(value)} to a string: ToString() makes one of it"
                    );
            case >= ScriptFunction.ParseLong and <= ScriptFunction.ParseBoolean:
                return Parse(
                    function,
                    value.IsText
                        ? value
                        : throw new ScriptFailure($"the script parses {NameOf(value)}, which is no string")
                );
            default:
                return value.IsText
                    ? Parse(function - ScriptFunction.ConvertToLong + ScriptFunction.ParseLong, value)
                    : ConvertNumber(function, value);
        }
    }

    /// <summary><c>Convert.To…</c> of what is no text: halves go to the even number.</summary>
    private ScriptValue ConvertNumber(ScriptFunction function, ScriptValue value)
    {
        var number = value.Kind is ValueKind.True or ValueKind.False
            ? new CSharpNumber(value.Kind == ValueKind.True ? 1L : 0L)
            : Required(value, function);
        switch (function)
        {
            case ScriptFunction.ConvertToDouble:
                return ScriptValue.OfReal(number.Real);
            case ScriptFunction.ConvertToDecimal:
                return Value(new CSharpNumber(value.IsNumber ? DecimalOf(value) : number.Decimal));
            case ScriptFunction.ConvertToBoolean:
                return ScriptValue.Of(number.Real != 0);
            default:
                // A decimal of a double has 15 digits of it.
                long rounded =
                    number.IsWhole ? number.Whole
                    : number.IsReal ? checked((long)Math.Round(number.Real, MidpointRounding.ToEven))
                    : (long)decimal.Round(number.Decimal, MidpointRounding.ToEven);
                return function == ScriptFunction.ConvertToInt
                    ? ScriptValue.OfInt(checked((int)rounded))
                    : ScriptValue.OfWhole(rounded);
        }
    }

    private ScriptValue Parse(ScriptFunction function, ScriptValue value)
    {
        var text = _heap.Plain(value);
        _heap.SpendOnDigits(text.Length);
        var bytes = _heap.Span(text);
        switch (function)
        {
            case ScriptFunction.ParseInt
                when int.TryParse(bytes, NumberStyles.Integer, CultureInfo.InvariantCulture, out int small):
                return ScriptValue.OfInt(small);
            case ScriptFunction.ParseLong
                when long.TryParse(bytes, NumberStyles.Integer, CultureInfo.InvariantCulture, out long whole):
                return ScriptValue.OfWhole(whole);
            case ScriptFunction.ParseDouble
                when double.TryParse(
                    bytes,
                    NumberStyles.Float | NumberStyles.AllowThousands,
                    CultureInfo.InvariantCulture,
                    out double real
                ):
                return ScriptValue.OfReal(real);
            case ScriptFunction.ParseDecimal
                when decimal.TryParse(bytes, NumberStyles.Number, CultureInfo.InvariantCulture, out decimal exact):
                return Value(new CSharpNumber(exact));
            case ScriptFunction.ParseBoolean when bool.TryParse(NetText(text), out bool truth):
                return ScriptValue.Of(truth);
            default:
                throw new ScriptFailure(
                    $"'{Shown(text)}' cannot be parsed as "
                        + $"{(function == ScriptFunction.ParseBoolean ? "a bool" : "a number of this type")}"
                );
        }
    }

    private CSharpNumber Required(ScriptValue value, string user) =>
        value.IsNumber
            ? NumeralOf(value)
            : throw new ScriptFailure($"the script uses {user} on {NameOf(value)}, which is no number");

    private CSharpNumber Required(ScriptValue value, ScriptFunction user) =>
        value.IsNumber ? NumeralOf(value) : Required(value, FunctionNames.Of(user));

    private CSharpNumber RequiredOrCode(ScriptFunction function, ScriptValue value) =>
        Required(value.Trait == ValueTrait.Character ? CodeOf(value) : value, function);

    private ScriptValue CalculateAsCSharp(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        // The rounding is a text, as in Math.Round(x, MidpointRounding.AwayFromZero).
        foreach (var argument in arguments)
        {
            if (argument.IsNothing)
            {
                return ScriptValue.Null;
            }
        }

        if (function is ScriptFunction.CSharpAbsolute && TimeOf(arguments[0]) is { IsSpan: true } span)
        {
            return ScriptValue.OfSpan(Math.Abs(span.Span));
        }

        var number = RequiredOrCode(function, arguments[0]);
        switch (function)
        {
            case ScriptFunction.CSharpRound:
                return Round(number, arguments[1..]);
            case ScriptFunction.CSharpMinimum or ScriptFunction.CSharpMaximum:
                var other = RequiredOrCode(function, arguments[1]);
                var type = CSharpNumber.Common(number, other);
                if (type is CSharpNumberType.Single or CSharpNumberType.Real)
                {
                    double real =
                        function == ScriptFunction.CSharpMinimum
                            ? Math.Min(number.Real, other.Real)
                            : Math.Max(number.Real, other.Real);
                    return Value(new CSharpNumber(real).As(type));
                }

                bool isFirst = (CSharpNumber.Compare(number, other) <= 0) == (function == ScriptFunction.CSharpMinimum);
                return Value((isFirst ? number : other).As(type));
            case ScriptFunction.Power:
                _heap.Spend(StepsPerPower);
                return ScriptValue.OfReal(PortablePower.Of(number.Real, RequiredOrCode(function, arguments[1]).Real));
            case ScriptFunction.SquareRoot:
                return ScriptValue.OfReal(Math.Sqrt(number.Real));
            case ScriptFunction.CSharpSign:
                return ScriptValue.OfInt(
                    number.IsWhole ? Math.Sign(number.Whole)
                    : !number.IsReal ? Math.Sign(number.Decimal)
                    : double.IsNaN(number.Real) ? throw new ScriptFailure("NaN has no sign")
                    : Math.Sign(number.Real)
                );
        }

        return Value(
            number.Type switch
            {
                _ when number.IsWhole && function != ScriptFunction.CSharpAbsolute => number,
                CSharpNumberType.Int => new CSharpNumber(Math.Abs((int)number.Whole)),
                CSharpNumberType.Whole => new CSharpNumber(Math.Abs(number.Whole)),
                CSharpNumberType.Single when function == ScriptFunction.CSharpAbsolute => new CSharpNumber(
                    Math.Abs((float)number.Real)
                ),
                _ when number.IsReal => new CSharpNumber(
                    function switch
                    {
                        ScriptFunction.CSharpFloor => Math.Floor(number.Real),
                        ScriptFunction.CSharpCeiling => Math.Ceiling(number.Real),
                        ScriptFunction.CSharpTruncate => Math.Truncate(number.Real),
                        _ => Math.Abs(number.Real),
                    }
                ),
                _ => new CSharpNumber(
                    function switch
                    {
                        ScriptFunction.CSharpFloor => Math.Floor(number.Decimal),
                        ScriptFunction.CSharpCeiling => Math.Ceiling(number.Decimal),
                        ScriptFunction.CSharpTruncate => Math.Truncate(number.Decimal),
                        _ => Math.Abs(number.Decimal),
                    }
                ),
            }
        );
    }

    private ScriptValue Round(CSharpNumber number, ReadOnlySpan<ScriptValue> options)
    {
        const int MostRealDigits = 15;
        const int MostDecimalDigits = 28;
        var rounding = MidpointRounding.ToEven;
        if (!options.IsEmpty && options[^1].IsText && !Enum.TryParse(NetText(options[^1]), out rounding))
        {
            throw ScriptProgram.Broken();
        }

        long digits = !options.IsEmpty && options[0].IsNumber ? NumeralOf(options[0]).Cut : 0;
        if (digits < 0 || digits > (number.Type == CSharpNumberType.Decimal ? MostDecimalDigits : MostRealDigits))
        {
            throw new ScriptFailure("the script rounds to more digits than its type has");
        }

        return number.IsWhole ? Value(number)
            : number.IsReal ? ScriptValue.OfReal(Math.Round(number.Real, (int)digits, rounding))
            : Value(new CSharpNumber(decimal.Round(number.Decimal, (int)digits, rounding)));
    }

    private static string Format(CSharpNumber number, string? format) =>
        number.Type switch
        {
            CSharpNumberType.Int => ((int)number.Whole).ToString(format, CultureInfo.InvariantCulture),
            CSharpNumberType.Whole => number.Whole.ToString(format, CultureInfo.InvariantCulture),
            CSharpNumberType.Single => ((float)number.Real).ToString(format, CultureInfo.InvariantCulture),
            CSharpNumberType.Real => number.Real.ToString(format, CultureInfo.InvariantCulture),
            _ => number.Decimal.ToString(format, CultureInfo.InvariantCulture),
        };

    private string Format(ScriptValue value, string format)
    {
        const int MostFormat = 64;
        if (
            format.Length > MostFormat
            || (
                format.Length > 3
                && char.IsAsciiLetter(format[0])
                && format.AsSpan(1).IndexOfAnyExceptInRange('0', '9') < 0
            )
        )
        {
            throw new ScriptFailure("a format is longer than this server runs");
        }

        try
        {
            return value switch
            {
                _ when TimeOf(value) is { IsTime: true } time => time.Format(format),
                _ when value.IsNumber => Format(NumeralOf(value), format),
                _ when value.IsNothing => "",
                _ => throw new ScriptFailure($"the script formats {NameOf(value)} as '{format}'"),
            };
        }
        catch (FormatException)
        {
            throw new ScriptFailure($"'{format}' is no format of {NameOf(value)}");
        }
    }
}
