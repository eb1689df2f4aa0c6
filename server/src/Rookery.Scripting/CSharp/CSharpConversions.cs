using System.Globalization;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>Casts and conversions of C#.</summary>
internal static class CSharpConversions
{
    /// <summary>
    /// Computes a cast, a conversion or a parse. For null, the result is null, but a condition is false.
    /// </summary>
    /// <param name="heap">The heap.</param>
    /// <param name="function">The conversion.</param>
    /// <param name="value">The value.</param>
    /// <param name="arguments">Further arguments, such as the format of <c>ToString</c>.</param>
    public static ScriptValue Convert(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue value,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        if (function == ScriptFunction.Condition)
        {
            return value.Kind is ValueKind.True || value.IsNothing || value.Kind is ValueKind.False
                ? ScriptValue.Of(value.Kind == ValueKind.True)
                : throw new ScriptFailure($"a condition is {CSharpStrings.NameOf(value)}");
        }

        if (value.IsNothing)
        {
            return ScriptValue.Null;
        }

        if (function is ScriptFunction.CastToInt or ScriptFunction.CastToLong && value.Trait == ValueTrait.Weekday)
        {
            int day = (int)heap.WeekdayOf(value);
            return function == ScriptFunction.CastToInt ? ScriptValue.OfInt(day) : ScriptValue.OfWhole(day);
        }

        if (value.Trait == ValueTrait.Character && ReadsCharacterCodes(function))
        {
            value = heap.CodeOf(value);
        }

        switch (function)
        {
            case ScriptFunction.Negated when heap.TimeOf(value) is { IsSpan: true } span:
                return ScriptValue.OfSpan(checked(-span.Span));
            case ScriptFunction.Negated:
                var operand = heap.Required(value, "-");
                return heap.ValueOf(
                    operand.Type switch
                    {
                        CSharpNumberType.Real => new CSharpNumber(-operand.Real),
                        CSharpNumberType.Single => new CSharpNumber(-(float)operand.Real),
                        _ => CSharpNumber.Calculate(ScriptFunction.Minus, new CSharpNumber(0), operand),
                    }
                );
            case ScriptFunction.CastToDouble:
                return ScriptValue.OfReal(heap.Required(value, "a cast").Real);
            case ScriptFunction.CastToFloat:
                return ScriptValue.OfSingle((float)heap.Required(value, "a cast").Real);
            case ScriptFunction.CastToDecimal:
                heap.Required(value, "a cast");
                return heap.ValueOf(new CSharpNumber(heap.DecimalOf(value)));
            case ScriptFunction.CastToLong:
                return ScriptValue.OfWhole(heap.Required(value, "a cast").Truncated);
            case ScriptFunction.CastToInt:
                var castNumber = heap.Required(value, "a cast");
                return ScriptValue.OfInt(
                    castNumber.IsWhole ? unchecked((int)castNumber.Whole)
                    : castNumber.IsReal ? (int)castNumber.Real
                    : (int)castNumber.Decimal
                );
            case ScriptFunction.FitInt:
                return ScriptValue.OfInt(checked((int)RequiredInteger(heap, value, "int")));
            case ScriptFunction.FitLong:
                return ScriptValue.OfWhole(RequiredInteger(heap, value, "long"));
            case ScriptFunction.CSharpText:
                return arguments.IsEmpty || arguments[0].IsNothing
                    ? heap.CSharpTextOf(value)
                    : heap.NewString(heap.Format(value, heap.NetText(arguments[0])));
            case ScriptFunction.CastToText:
                return value.IsText
                    ? heap.Plain(value).With(ValueTrait.None)
                    : throw new ScriptFailure(
                        $"the script casts {CSharpStrings.NameOf(value)} to a string: use ToString()"
                    );
            case >= ScriptFunction.ParseLong and <= ScriptFunction.ParseBoolean:
                return Parse(
                    heap,
                    function,
                    value.IsText
                        ? value
                        : throw new ScriptFailure(
                            $"the script parses {CSharpStrings.NameOf(value)}, which is no string"
                        )
                );
            default:
                return value.IsText
                    ? Parse(heap, function - ScriptFunction.ConvertToLong + ScriptFunction.ParseLong, value)
                    : ConvertNumber(heap, function, value);
        }
    }

    private static long RequiredInteger(ScriptHeap heap, ScriptValue value, string type) =>
        value.IsNumber && heap.NumeralOf(value) is { IsWhole: true } number
            ? number.Whole
            : throw new ScriptFailure(
                $"the script stores {CSharpStrings.NameOf(value)} that is no integer in a sequence of type {type}, for "
                    + $"which C# requires a cast: ({type})"
            );

    /// <summary>
    /// Computes <c>Convert.To…</c> of a value that is no text. Halves are rounded to the even number.
    /// </summary>
    private static ScriptValue ConvertNumber(ScriptHeap heap, ScriptFunction function, ScriptValue value)
    {
        var number = value.Kind is ValueKind.True or ValueKind.False
            ? new CSharpNumber(value.Kind == ValueKind.True ? 1L : 0L)
            : heap.Required(value, function);
        switch (function)
        {
            case ScriptFunction.ConvertToDouble:
                return ScriptValue.OfReal(number.Real);
            case ScriptFunction.ConvertToDecimal:
                return heap.ValueOf(new CSharpNumber(value.IsNumber ? heap.DecimalOf(value) : number.Decimal));
            case ScriptFunction.ConvertToBoolean:
                return ScriptValue.Of(number.Real != 0);
            default:
                // Converting a double to decimal would keep only 15 of its digits.
                long rounded =
                    number.IsWhole ? number.Whole
                    : number.IsReal ? checked((long)Math.Round(number.Real, MidpointRounding.ToEven))
                    : (long)decimal.Round(number.Decimal, MidpointRounding.ToEven);
                return function == ScriptFunction.ConvertToInt
                    ? ScriptValue.OfInt(checked((int)rounded))
                    : ScriptValue.OfWhole(rounded);
        }
    }

    private static ScriptValue Parse(ScriptHeap heap, ScriptFunction function, ScriptValue value)
    {
        var text = heap.Plain(value);
        heap.Budget.SpendOnDigits(text.Length);
        var bytes = heap.Span(text);
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
                return heap.ValueOf(new CSharpNumber(exact));
            case ScriptFunction.ParseBoolean when bool.TryParse(heap.NetText(text), out bool truth):
                return ScriptValue.Of(truth);
            default:
                throw new ScriptFailure(
                    $"'{heap.Shown(text)}' cannot be parsed as "
                        + $"{(function == ScriptFunction.ParseBoolean ? "a bool" : "a number of this type")}"
                );
        }
    }

    /// <summary>Returns whether a conversion reads a <c>char</c> as its character code.</summary>
    private static bool ReadsCharacterCodes(ScriptFunction function) =>
        function
            is ScriptFunction.Negated
                or (>= ScriptFunction.CastToLong and <= ScriptFunction.CastToDecimal)
                or ScriptFunction.ConvertToLong
                or ScriptFunction.ConvertToInt
                or ScriptFunction.FitInt
                or ScriptFunction.FitLong;
}
