using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>
/// The operators of C#. The result of arithmetic with null is null, and a comparison with null is false.
/// </summary>
internal static class CSharpOperators
{
    public static ScriptValue OperateAsCSharp(
        this ScriptContext context,
        ScriptFunction function,
        ScriptValue first,
        ScriptValue second
    )
    {
        var heap = context.Heap;
        if (function == ScriptFunction.Property)
        {
            return context.GetProperty(first, second);
        }

        // A char is converted to its code if the other operand is a number or a char.
        if (
            (first.Trait == ValueTrait.Character && (second.IsNumber || second.Trait == ValueTrait.Character))
            || (second.Trait == ValueTrait.Character && first.IsNumber)
        )
        {
            first = first.IsNumber ? first : heap.CodeOf(first);
            second = second.IsNumber ? second : heap.CodeOf(second);
        }

        switch (function)
        {
            case ScriptFunction.IsSame:
                return ScriptValue.Of(heap.IsSame(first, second, isOperator: true));
            case ScriptFunction.IsLess
            or ScriptFunction.IsLessOrEqual
            or ScriptFunction.IsGreater
            or ScriptFunction.IsGreaterOrEqual:
                RequireOrder(heap, first, second);
                return ScriptValue.Of(
                    !first.IsNothing && !second.IsNothing && IsInOrder(function, heap.Compare(first, second))
                );
            case ScriptFunction.Plus:
                (first, second) = (heap.AsRead(first), heap.AsRead(second));
                if (
                    (first.Trait == ValueTrait.Weekday && second.IsNumber)
                    || (second.Trait == ValueTrait.Weekday && first.IsNumber)
                )
                {
                    throw new ScriptFailure("the script adds a number to a DayOfWeek: use (int)o.At.DayOfWeek");
                }

                if (first.IsText || second.IsText)
                {
                    return JoinAsCSharp(heap, first, second);
                }

                break;
        }

        if (first.IsNothing || second.IsNothing)
        {
            return first.IsNothing || function is not (ScriptFunction.DividedBy or ScriptFunction.Modulo)
                ? ScriptValue.Null
                : throw new ScriptFailure("the script divides by a value that is missing or null");
        }

        if (first.IsNumber && second.IsNumber)
        {
            RequireNoMix(first, second);
            return heap.ValueOf(
                first.Kind == ValueKind.Decimal || second.Kind == ValueKind.Decimal
                    ? CSharpNumber.Calculate(
                        function,
                        new CSharpNumber(heap.DecimalOf(first)),
                        new CSharpNumber(heap.DecimalOf(second))
                    )
                    : CalculateNumbers(context, function, heap.NumeralOf(first), heap.NumeralOf(second))
            );
        }

        return heap.OperateOnDates(function, heap.Temporal(first), heap.Temporal(second));
    }

    /// <summary>Rejects an order of two strings, for which C# has no operator.</summary>
    private static void RequireOrder(ScriptHeap heap, ScriptValue first, ScriptValue second)
    {
        if (
            first.IsText
            && second.IsText
            && (first.Trait != ValueTrait.Weekday || second.Trait != ValueTrait.Weekday)
            && !heap.TimeOf(first).IsOfOneType(heap.TimeOf(second))
        )
        {
            throw new ScriptFailure(
                $"the script compares {CSharpStrings.NameOf(first)} with {CSharpStrings.NameOf(second)}: C# compares "
                    + "strings by string.CompareOrdinal(a, b) < 0"
            );
        }
    }

    /// <summary>
    /// Rejects an operation on a decimal and a double, for which C# has no operator. A number from a document is
    /// converted to either type.
    /// </summary>
    public static void RequireNoMix(ScriptValue first, ScriptValue second)
    {
        if (
            (first.Kind == ValueKind.Decimal && second.Kind == ValueKind.Real)
            || (first.Kind == ValueKind.Real && second.Kind == ValueKind.Decimal)
        )
        {
            throw Mixed();
        }
    }

    /// <summary>Returns the failure of an operation on a decimal and a double.</summary>
    public static ScriptFailure Mixed() =>
        new("the script calculates with a decimal and a double, for which C# requires a cast");

    private static CSharpNumber CalculateNumbers(
        ScriptContext context,
        ScriptFunction function,
        CSharpNumber left,
        CSharpNumber right
    )
    {
        var heap = context.Heap;
        var type = CSharpNumber.Common(left, right);
        if (function == ScriptFunction.Modulo && type is (CSharpNumberType.Single or CSharpNumberType.Real))
        {
            heap.SpendOnRemainder(left.Real, right.Real);
        }

        return function == ScriptFunction.Plus && type == CSharpNumberType.Real
            ? new CSharpNumber(context.AddReals(left.Real, right.Real))
            : CSharpNumber.Calculate(function, left, right);
    }

    private static bool IsInOrder(ScriptFunction function, int? order) =>
        order is { } sign
        && function switch
        {
            ScriptFunction.IsLess => sign < 0,
            ScriptFunction.IsLessOrEqual => sign <= 0,
            ScriptFunction.IsGreater => sign > 0,
            _ => sign >= 0,
        };

    private static ScriptValue JoinAsCSharp(ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        if (left.Kind == ValueKind.Text && left.Start + left.Length == heap.Length && !heap.HasLoneSurrogates)
        {
            heap.AddCSharpText(right);
            return heap.TextFrom(left.Start);
        }

        int start = heap.Length;
        heap.AddCSharpText(left);
        heap.AddCSharpText(right);
        return heap.TextFrom(start);
    }
}
