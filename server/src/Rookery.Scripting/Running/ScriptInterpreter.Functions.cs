using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Which function does what. Of nothing, the methods of texts are nothing, and those of arrays what they are
/// of an empty one.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue Invoke(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        _heap.Spend(4);
        var first = arguments.IsEmpty ? ScriptValue.Undefined : arguments[0];
        var rest = arguments.IsEmpty ? arguments : arguments[1..];
        return function switch
        {
            <= ScriptFunction.PadEnd when first.Kind != ValueKind.Array => first.IsNothing
                ? OfNothing(function, rest)
                : InvokeOnText(function, ToText(RequireText(first, function)), rest),
            ScriptFunction.ToText => first.IsNothing ? ScriptValue.Undefined : ToText(first),
            ScriptFunction.ToFixed => first.IsNothing
                ? ScriptValue.Undefined
                : ToFixed(ToNumber(first), rest.IsEmpty ? 0 : ToInteger(rest[0], 0, 100)),
            <= ScriptFunction.Sort => first.IsNothing
                ? OfNothing(function, rest)
                : InvokeOnArray(function, RequireArray(first, function), rest),
            < ScriptFunction.Keys => InvokeOnNumber(function, first, arguments),
            ScriptFunction.Keys or ScriptFunction.Values or ScriptFunction.Entries => MembersOf(function, first),
            ScriptFunction.Id => IdOf(first),
            ScriptFunction.Load => Load(first),
            ScriptFunction.Metadata => MetadataOf(first),
            _ => InvokeAsCSharp(function, arguments),
        };
    }

    /// <summary>
    /// Numbers have no methods of texts but those that LINQ would call on their text; objects have none.
    /// </summary>
    private static ScriptValue RequireText(ScriptValue value, ScriptFunction function) =>
        value.IsText
            ? value
            : throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on a value that is no text"
                    + (IsForBoth(function) ? " and no array" : "")
            );

    private static ScriptValue RequireArray(ScriptValue value, ScriptFunction function) =>
        value.Kind == ValueKind.Array
            ? value
            : throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on a value that is no array");

    private static bool IsForBoth(ScriptFunction function) =>
        function
            is ScriptFunction.Slice
                or ScriptFunction.Includes
                or ScriptFunction.IndexOf
                or ScriptFunction.LastIndexOf
                or ScriptFunction.Concat;

    /// <summary>What a method of nothing yields; those that would change it fail.</summary>
    private ScriptValue OfNothing(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments) =>
        function switch
        {
            ScriptFunction.Includes => ScriptValue.Of(false),
            ScriptFunction.IndexOf or ScriptFunction.LastIndexOf => ScriptValue.Of(-1),
            ScriptFunction.Concat => InvokeOnArray(function, _heap.NewArray(), arguments),
            ScriptFunction.Flat => _heap.NewArray(),
            ScriptFunction.Push
            or ScriptFunction.Pop
            or ScriptFunction.Shift
            or ScriptFunction.Unshift
            or ScriptFunction.Splice
            or ScriptFunction.Reverse
            or ScriptFunction.Sort => throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on an array that does not exist"
            ),
            _ => ScriptValue.Undefined,
        };

    private ScriptValue InvokeOnNumber(ScriptFunction function, ScriptValue first, ReadOnlySpan<ScriptValue> arguments)
    {
        switch (function)
        {
            case ScriptFunction.Round:
                return ScriptValue.Of(Round(ToNumber(first)));
            case ScriptFunction.Floor:
                return ScriptValue.Of(Math.Floor(ToNumber(first)));
            case ScriptFunction.Ceiling:
                return ScriptValue.Of(Math.Ceiling(ToNumber(first)));
            case ScriptFunction.Absolute:
                return ScriptValue.Of(Math.Abs(ToNumber(first)));
            case ScriptFunction.Truncate:
                return ScriptValue.Of(Math.Truncate(ToNumber(first)));
            case ScriptFunction.Sign:
                double sign = ToNumber(first);
                return ScriptValue.Of(
                    sign > 0 ? 1
                    : sign < 0 ? -1
                    : sign
                );
            case ScriptFunction.Minimum or ScriptFunction.Maximum:
                return ScriptValue.Of(Extreme(function == ScriptFunction.Minimum, arguments));
            case ScriptFunction.ToNumber:
                return first.IsNumber ? first : ScriptValue.Of(ToNumber(first));
            case ScriptFunction.ToTextOf:
                return ToText(first);
            case ScriptFunction.ToBoolean:
                return ScriptValue.Of(IsTrue(first));
            case ScriptFunction.ParseInteger:
                return ParseInteger(first, arguments);
            case ScriptFunction.ParseFloat:
                var text = ToText(first);
                _heap.SpendOnDigits(text.Length);
                return ScriptValue.Of(NumberText.ParsePrefix(_heap.Span(text)));
            case ScriptFunction.IsNaN:
                return ScriptValue.Of(double.IsNaN(ToNumber(first)));
            case ScriptFunction.IsInteger:
                return ScriptValue.Of(
                    first.IsNumber
                        && _heap.NumberOf(first) is var number
                        && double.IsFinite(number)
                        && number == Math.Truncate(number)
                );
            case ScriptFunction.IsFinite:
                return ScriptValue.Of(double.IsFinite(ToNumber(first)));
            case ScriptFunction.IsArray:
                return ScriptValue.Of(first.Kind == ValueKind.Array);
            default:
                throw ScriptProgram.Broken();
        }
    }

    private ScriptValue ParseInteger(ScriptValue first, ReadOnlySpan<ScriptValue> arguments)
    {
        int radix = arguments.Length > 1 ? ToInt32(ToNumber(arguments[1])) : 0;
        if (radix is < 0 or 1 or > 36)
        {
            return ScriptValue.Of(double.NaN);
        }

        var text = ToText(first);
        _heap.SpendOnDigits(text.Length);
        return ScriptValue.Of(NumberText.ParseInteger(_heap.Span(text), radix));
    }

    /// <summary>The number's whole part, modulo 2³², as ECMA-262's ToInt32.</summary>
    private static int ToInt32(double number)
    {
        const double Modulus = 4294967296;
        return double.IsFinite(number) ? unchecked((int)(long)(Math.Truncate(number) % Modulus)) : 0;
    }

    private double Extreme(bool isLeast, ReadOnlySpan<ScriptValue> arguments)
    {
        double extreme = isLeast ? double.PositiveInfinity : double.NegativeInfinity;
        foreach (var argument in arguments)
        {
            double number = ToNumber(argument);
            extreme = isLeast ? Math.Min(extreme, number) : Math.Max(extreme, number);
        }

        return extreme;
    }

    /// <summary>Half goes up, as JavaScript has it; the largest number below a half goes down.</summary>
    private static double Round(double number)
    {
        double floor = Math.Floor(number);
        double rounded = number - floor >= 0.5 ? floor + 1 : floor;
        return rounded == 0 ? Math.CopySign(0, number) : rounded;
    }

    private ScriptValue ToFixed(double number, int digits)
    {
        if (!double.IsFinite(number) || Math.Abs(number) >= 1e21)
        {
            return ToText(ScriptValue.Of(number));
        }

        if (digits > NumberText.MostFixedDigits)
        {
            throw new ScriptFailure($"toFixed is asked for more than {NumberText.MostFixedDigits} digits");
        }

        // All digits of a double, up to seventy, are worked out with long arithmetic.
        const int StepsPerFixed = 64;
        _heap.Spend(StepsPerFixed);
        int start = _heap.Length;
        _heap.Advance(NumberText.FormatFixed(number, digits, _heap.Reserve(NumberText.MostFixedBytes)));
        return _heap.TextFrom(start);
    }

    private ScriptValue MembersOf(ScriptFunction function, ScriptValue value)
    {
        value = value.IsText ? Split(_heap.Plain(value), _heap.NewText(default)) : value;
        var array = _heap.NewArray();
        int count = value.IsContainer ? _heap.Count(value) : 0;
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            var name = value.Kind == ValueKind.Array ? ToText(ScriptValue.Of(index)) : _heap.Name(value, index);
            var member = value.Kind == ValueKind.Array ? _heap.Element(value, index) : _heap.Member(value, index);
            if (function == ScriptFunction.Entries)
            {
                var entry = _heap.NewArray();
                _heap.Append(entry, name);
                _heap.Append(entry, member);
                member = entry;
            }

            _heap.Append(array, function == ScriptFunction.Keys ? name : member);
        }

        return array;
    }
}
