using System.Buffers.Text;
using System.Globalization;

namespace Rookery.Documents.Scripting;

/// <content>Numbers of C#: types, casts, conversions and <c>Math</c>.</content>
public sealed partial class ScriptInterpreter
{
    /// <summary>The number of a value that is one. One of a document is whole when it is written so; one of a function that counts is whole.</summary>
    private CSharpNumber NumeralOf(ScriptValue value)
    {
        switch (value.Kind)
        {
            case ValueKind.Whole:
                return new CSharpNumber(value.Whole);
            case ValueKind.Number when value.Double == Math.Truncate(value.Double) && Math.Abs(value.Double) < long.MaxValue:
                return new CSharpNumber((long)value.Double);
            case ValueKind.StoredNumber when Utf8Parser.TryParse(heap.Span(value), out long whole, out int read) && read == value.Length:
                return new CSharpNumber(whole);
            case ValueKind.Decimal:
                return new CSharpNumber(DecimalOf(value));
            default:
                return new CSharpNumber(heap.NumberOf(value));
        }
    }

    /// <summary>The decimal of a number: of one in a document its digits.</summary>
    private decimal DecimalOf(ScriptValue value)
    {
        if (value.Kind is not (ValueKind.StoredNumber or ValueKind.Decimal))
        {
            return NumeralOf(value).Decimal;
        }

        heap.SpendOnDigits(value.Length);
        return decimal.Parse(heap.Span(value), NumberStyles.Float, CultureInfo.InvariantCulture);
    }

    private ScriptValue Value(CSharpNumber number)
    {
        switch (number.Type)
        {
            case CSharpNumberType.Whole:
                return ScriptValue.OfWhole(number.Whole);
            case CSharpNumberType.Real:
                return ScriptValue.OfReal(number.Real);
            default:
                const int MostDigits = 32;
                int start = heap.Length;
                number.Decimal.TryFormat(heap.Reserve(MostDigits), out int length, default, CultureInfo.InvariantCulture);
                heap.Advance(length);
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

        if (function is ScriptFunction.CastToInt or ScriptFunction.CastToLong && value.IsText && NetText(value) is [>= 'A' and <= 'Z', ..] name && Enum.TryParse<DayOfWeek>(name, out var day))
        {
            return ScriptValue.OfWhole((int)day);
        }

        switch (function)
        {
            case ScriptFunction.Negated when value.Kind == ValueKind.Span || (value.IsText && Temporal(value).Kind == ValueKind.Span):
                return ScriptValue.OfSpan(-Temporal(value).Whole);
            case ScriptFunction.Negated:
                var operand = Required(value, "-");
                return Value(operand.Type == CSharpNumberType.Real ? new CSharpNumber(-operand.Real) : CSharpNumber.Calculate(ScriptFunction.Minus, new CSharpNumber(0L), operand));
            case ScriptFunction.CastToDouble:
                return ScriptValue.OfReal(Required(value, "a cast").Real);
            case ScriptFunction.CastToFloat:
                return ScriptValue.OfReal(double.Parse(((float)Required(value, "a cast").Real).ToString(CultureInfo.InvariantCulture), CultureInfo.InvariantCulture));
            case ScriptFunction.CastToDecimal:
                Required(value, "a cast");
                return Value(new CSharpNumber(DecimalOf(value)));
            case ScriptFunction.CastToLong:
                return ScriptValue.OfWhole(Required(value, "a cast").Cut);
            case ScriptFunction.CastToInt:
                var cut = Required(value, "a cast");
                return ScriptValue.OfWhole(cut.Type == CSharpNumberType.Whole ? unchecked((int)cut.Whole) : cut.Type == CSharpNumberType.Real ? (int)cut.Real : (int)cut.Decimal);
            case ScriptFunction.CSharpText:
                return rest.IsEmpty ? CSharpTextOf(value) : NewText(Format(value, NetText(rest[0])));
            case >= ScriptFunction.ParseLong and <= ScriptFunction.ParseBoolean:
                return Parse(function, value.IsText ? value : throw new ScriptFailure($"the script parses {NameOf(value)}, which is no string"));
            default:
                return value.IsText ? Parse(function - ScriptFunction.ConvertToLong + ScriptFunction.ParseLong, value) : ConvertNumber(function, value);
        }
    }

    /// <summary><c>Convert.To…</c> of what is no text: halves go to the even number.</summary>
    private ScriptValue ConvertNumber(ScriptFunction function, ScriptValue value)
    {
        var number = value.Kind is ValueKind.True or ValueKind.False ? new CSharpNumber(value.Kind == ValueKind.True ? 1L : 0L) : Required(value, "Convert");
        switch (function)
        {
            case ScriptFunction.ConvertToDouble:
                return ScriptValue.OfReal(number.Real);
            case ScriptFunction.ConvertToDecimal:
                return Value(new CSharpNumber(value.IsNumber ? DecimalOf(value) : number.Decimal));
            case ScriptFunction.ConvertToBoolean:
                return ScriptValue.Of(number.Real != 0);
            default:
                var rounded = number.Type == CSharpNumberType.Whole ? number.Decimal : decimal.Round(number.Decimal, MidpointRounding.ToEven);
                return ScriptValue.OfWhole(function == ScriptFunction.ConvertToInt ? (int)rounded : (long)rounded);
        }
    }

    private ScriptValue Parse(ScriptFunction function, ScriptValue value)
    {
        var text = heap.Plain(value);
        heap.SpendOnDigits(text.Length);
        var bytes = heap.Span(text);
        switch (function)
        {
            case ScriptFunction.ParseInt when int.TryParse(bytes, NumberStyles.Integer, CultureInfo.InvariantCulture, out int small):
                return ScriptValue.OfWhole(small);
            case ScriptFunction.ParseLong when long.TryParse(bytes, NumberStyles.Integer, CultureInfo.InvariantCulture, out long whole):
                return ScriptValue.OfWhole(whole);
            case ScriptFunction.ParseDouble when double.TryParse(bytes, NumberStyles.Float | NumberStyles.AllowThousands, CultureInfo.InvariantCulture, out double real):
                return ScriptValue.OfReal(real);
            case ScriptFunction.ParseDecimal when decimal.TryParse(bytes, NumberStyles.Number, CultureInfo.InvariantCulture, out decimal exact):
                return Value(new CSharpNumber(exact));
            case ScriptFunction.ParseBoolean when bool.TryParse(NetText(text), out bool truth):
                return ScriptValue.Of(truth);
            default:
                throw new ScriptFailure($"'{Shown(text)}' cannot be parsed as {(function == ScriptFunction.ParseBoolean ? "a bool" : "a number of this type")}");
        }
    }

    private CSharpNumber Required(ScriptValue value, string user) => value.IsNumber ? NumeralOf(value) : throw new ScriptFailure($"the script uses {user} on {NameOf(value)}, which is no number");

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

        if (function is ScriptFunction.CSharpAbsolute && Temporal(arguments[0]) is { Kind: ValueKind.Span } span)
        {
            return ScriptValue.OfSpan(Math.Abs(span.Whole));
        }

        var number = Required(arguments[0], "Math");
        switch (function)
        {
            case ScriptFunction.CSharpRound:
                return Round(number, arguments[1..]);
            case ScriptFunction.CSharpMinimum or ScriptFunction.CSharpMaximum:
                var other = Required(arguments[1], "Math");
                var type = CSharpNumber.Common(number, other);
                if (type == CSharpNumberType.Real)
                {
                    return ScriptValue.OfReal(function == ScriptFunction.CSharpMinimum ? Math.Min(number.Real, other.Real) : Math.Max(number.Real, other.Real));
                }

                bool isFirst = (CSharpNumber.Compare(number, other) <= 0) == (function == ScriptFunction.CSharpMinimum);
                var extreme = isFirst ? number : other;
                return Value(type == CSharpNumberType.Decimal ? new CSharpNumber(extreme.Decimal) : extreme);
            case ScriptFunction.Power:
                return ScriptValue.OfReal(Math.Pow(number.Real, Required(arguments[1], "Math").Real));
            case ScriptFunction.SquareRoot:
                return ScriptValue.OfReal(Math.Sqrt(number.Real));
            case ScriptFunction.CSharpSign:
                return ScriptValue.OfWhole(number.Type switch
                {
                    CSharpNumberType.Whole => Math.Sign(number.Whole),
                    CSharpNumberType.Decimal => Math.Sign(number.Decimal),
                    _ => double.IsNaN(number.Real) ? throw new ScriptFailure("NaN has no sign") : Math.Sign(number.Real),
                });
        }

        return Value(number.Type switch
        {
            CSharpNumberType.Whole => new CSharpNumber(function == ScriptFunction.CSharpAbsolute ? Math.Abs(number.Whole) : number.Whole),
            CSharpNumberType.Real => new CSharpNumber(function switch
            {
                ScriptFunction.CSharpFloor => Math.Floor(number.Real),
                ScriptFunction.CSharpCeiling => Math.Ceiling(number.Real),
                ScriptFunction.CSharpTruncate => Math.Truncate(number.Real),
                _ => Math.Abs(number.Real),
            }),
            _ => new CSharpNumber(function switch
            {
                ScriptFunction.CSharpFloor => Math.Floor(number.Decimal),
                ScriptFunction.CSharpCeiling => Math.Ceiling(number.Decimal),
                ScriptFunction.CSharpTruncate => Math.Truncate(number.Decimal),
                _ => Math.Abs(number.Decimal),
            }),
        });
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

        return number.Type switch
        {
            CSharpNumberType.Whole => ScriptValue.OfWhole(number.Whole),
            CSharpNumberType.Real => ScriptValue.OfReal(Math.Round(number.Real, (int)digits, rounding)),
            _ => Value(new CSharpNumber(decimal.Round(number.Decimal, (int)digits, rounding))),
        };
    }

    private string Format(ScriptValue value, string format)
    {
        const int MostFormat = 64;
        if (format.Length > MostFormat || (format.Length > 3 && char.IsAsciiLetter(format[0]) && format.AsSpan(1).IndexOfAnyExceptInRange('0', '9') < 0))
        {
            throw new ScriptFailure("a format is longer than this server runs");
        }

        try
        {
            var timely = Temporal(value);
            return timely.Kind switch
            {
                ValueKind.Date or ValueKind.OffsetDate => DateOf(timely).Format(format),
                ValueKind.Span => TimeSpan.FromTicks(timely.Whole).ToString(format, CultureInfo.InvariantCulture),
                _ when value.IsNumber => NumeralOf(value) is var number && number.Type == CSharpNumberType.Whole ? number.Whole.ToString(format, CultureInfo.InvariantCulture)
                    : number.Type == CSharpNumberType.Real ? number.Real.ToString(format, CultureInfo.InvariantCulture)
                    : number.Decimal.ToString(format, CultureInfo.InvariantCulture),
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
