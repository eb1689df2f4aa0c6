using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Functions;

/// <summary>Functions of JavaScript for numbers, and conversions.</summary>
internal static class NumberFunctions
{
    /// <summary>Calls a function of numbers or a conversion.</summary>
    public static ScriptValue InvokeOnNumber(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue first,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        switch (function)
        {
            case ScriptFunction.Round:
                return ScriptValue.Of(RoundHalfUp(heap.ToNumber(first)));
            case ScriptFunction.Floor:
                return ScriptValue.Of(Math.Floor(heap.ToNumber(first)));
            case ScriptFunction.Ceiling:
                return ScriptValue.Of(Math.Ceiling(heap.ToNumber(first)));
            case ScriptFunction.Absolute:
                return ScriptValue.Of(Math.Abs(heap.ToNumber(first)));
            case ScriptFunction.Truncate:
                return ScriptValue.Of(Math.Truncate(heap.ToNumber(first)));
            case ScriptFunction.Sign:
                double sign = heap.ToNumber(first);
                return ScriptValue.Of(
                    sign > 0 ? 1
                    : sign < 0 ? -1
                    : sign
                );
            case ScriptFunction.Minimum or ScriptFunction.Maximum:
                return ScriptValue.Of(Extreme(heap, function == ScriptFunction.Minimum, arguments));
            case ScriptFunction.ToNumber:
                return first.IsNumber ? first : ScriptValue.Of(heap.ToNumber(first));
            case ScriptFunction.ToTextOf:
                return heap.ToText(first);
            case ScriptFunction.ToBoolean:
                return ScriptValue.Of(heap.IsTrue(first));
            case ScriptFunction.ParseInteger:
                return ParseInteger(heap, first, arguments);
            case ScriptFunction.ParseFloat:
                var text = heap.ToText(first);
                heap.Budget.SpendOnDigits(text.Length);
                return ScriptValue.Of(NumberText.ParsePrefix(heap.Span(text)));
            case ScriptFunction.IsNaN:
                return ScriptValue.Of(double.IsNaN(heap.ToNumber(first)));
            case ScriptFunction.IsInteger:
                return ScriptValue.Of(
                    first.IsNumber
                        && heap.NumberOf(first) is var number
                        && double.IsFinite(number)
                        && number == Math.Truncate(number)
                );
            case ScriptFunction.IsFinite:
                return ScriptValue.Of(double.IsFinite(heap.ToNumber(first)));
            case ScriptFunction.IsArray:
                return ScriptValue.Of(first.Kind == ValueKind.Array);
            default:
                throw ScriptProgram.Broken();
        }
    }

    private static ScriptValue ParseInteger(ScriptHeap heap, ScriptValue first, ReadOnlySpan<ScriptValue> arguments)
    {
        int radix = arguments.Length > 1 ? ToInt32(heap.ToNumber(arguments[1])) : 0;
        if (radix is < 0 or 1 or > 36)
        {
            return ScriptValue.Of(double.NaN);
        }

        var text = heap.ToText(first);
        heap.Budget.SpendOnDigits(text.Length);
        return ScriptValue.Of(NumberText.ParseInteger(heap.Span(text), radix));
    }

    /// <summary>Returns the integral part of a number modulo 2³², as ToInt32 of ECMA-262.</summary>
    private static int ToInt32(double number)
    {
        const double Modulus = 4294967296;
        return double.IsFinite(number) ? unchecked((int)(long)(Math.Truncate(number) % Modulus)) : 0;
    }

    private static double Extreme(ScriptHeap heap, bool isLeast, ReadOnlySpan<ScriptValue> arguments)
    {
        double extreme = isLeast ? double.PositiveInfinity : double.NegativeInfinity;
        foreach (var argument in arguments)
        {
            double number = heap.ToNumber(argument);
            extreme = isLeast ? Math.Min(extreme, number) : Math.Max(extreme, number);
        }

        return extreme;
    }

    /// <summary>Rounds halves up, as JavaScript does. The largest number below 0.5 is rounded down.</summary>
    private static double RoundHalfUp(double number)
    {
        double floor = Math.Floor(number);
        double rounded = number - floor >= 0.5 ? floor + 1 : floor;
        return rounded == 0 ? Math.CopySign(0, number) : rounded;
    }

    /// <summary>Computes <c>toFixed</c>: formats a number with digits after the point.</summary>
    public static ScriptValue ToFixed(this ScriptHeap heap, double number, int digits)
    {
        if (digits is < 0 or > 100)
        {
            throw new ScriptFailure("toFixed takes 0 to 100 digits");
        }

        // As in JavaScript, toFixed formats numbers of at least this size as toString does.
        const double FixedLimit = 1e21;
        if (!double.IsFinite(number) || Math.Abs(number) >= FixedLimit)
        {
            return heap.ToText(ScriptValue.Of(number));
        }

        if (digits > NumberText.MaxFixedDigits)
        {
            throw new ScriptFailure($"toFixed is asked for more than {NumberText.MaxFixedDigits} digits");
        }

        // The digits of a double, up to seventy, are computed with big integers, which takes this many steps.
        const int StepsPerFixed = 64;
        heap.Budget.Spend(StepsPerFixed);
        int start = heap.Length;
        heap.Advance(NumberText.FormatFixed(number, digits, heap.Reserve(NumberText.MaxFixedBytes)));
        return heap.TextFrom(start);
    }
}
