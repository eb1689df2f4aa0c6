using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>The functions of C#'s <c>Math</c>.</summary>
internal static class CSharpMath
{
    private const int StepsPerPower = 64;

    /// <summary>Calls a function of <c>Math</c>.</summary>
    public static ScriptValue CalculateAsCSharp(
        this ScriptHeap heap,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        // If an argument is null, the result is null. A rounding mode such as MidpointRounding.AwayFromZero is passed
        // as text.
        foreach (var argument in arguments)
        {
            if (argument.IsNothing)
            {
                return ScriptValue.Null;
            }
        }

        if (function is ScriptFunction.CSharpAbsolute && heap.TimeOf(arguments[0]) is { IsSpan: true } span)
        {
            return ScriptValue.OfSpan(Math.Abs(span.Span));
        }

        var number = heap.RequiredOrCode(function, arguments[0]);
        switch (function)
        {
            case ScriptFunction.CSharpRound:
                return RoundNumber(heap, number, arguments[1..]);
            case ScriptFunction.CSharpMinimum or ScriptFunction.CSharpMaximum:
                var other = heap.RequiredOrCode(function, arguments[1]);
                var type = CSharpNumber.Common(number, other);
                if (type is CSharpNumberType.Single or CSharpNumberType.Real)
                {
                    double real =
                        function == ScriptFunction.CSharpMinimum
                            ? Math.Min(number.Real, other.Real)
                            : Math.Max(number.Real, other.Real);
                    return heap.ValueOf(new CSharpNumber(real).ConvertTo(type));
                }

                bool isFirst = (CSharpNumber.Compare(number, other) <= 0) == (function == ScriptFunction.CSharpMinimum);
                return heap.ValueOf((isFirst ? number : other).ConvertTo(type));
            case ScriptFunction.Power:
                heap.Budget.Spend(StepsPerPower);
                return ScriptValue.OfReal(
                    PortablePower.Of(number.Real, heap.RequiredOrCode(function, arguments[1]).Real)
                );
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

        return heap.ValueOf(
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

    private static ScriptValue RoundNumber(ScriptHeap heap, CSharpNumber number, ReadOnlySpan<ScriptValue> options)
    {
        const int MaxRealDigits = 15;
        const int MaxDecimalDigits = 28;
        var rounding = MidpointRounding.ToEven;
        if (!options.IsEmpty && options[^1].IsText && !Enum.TryParse(heap.NetText(options[^1]), out rounding))
        {
            throw ScriptProgram.Broken();
        }

        long digits = !options.IsEmpty && options[0].IsNumber ? heap.NumeralOf(options[0]).Truncated : 0;
        if (digits < 0 || digits > (number.Type == CSharpNumberType.Decimal ? MaxDecimalDigits : MaxRealDigits))
        {
            throw new ScriptFailure("the script rounds to more digits than its type has");
        }

        if (number.IsWhole)
        {
            return heap.ValueOf(number);
        }

        if (number.IsReal)
        {
            return ScriptValue.OfReal(Math.Round(number.Real, (int)digits, rounding));
        }

        return heap.ValueOf(new CSharpNumber(decimal.Round(number.Decimal, (int)digits, rounding)));
    }
}
