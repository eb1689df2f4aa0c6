using System.Globalization;
using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>
/// Sums and averages of C#. They are computed in the widest type of the numbers, and do not depend on the order of
/// numbers.
/// </summary>
internal static class CSharpSums
{
    // The types of numbers, from narrow to wide. The widest type determines how they are added.
    private enum Summed
    {
        Ints,
        Longs,

        /// <summary>A number from a document without point and exponent, of any size.</summary>
        StoredWhole,

        /// <summary>Any other number from a document.</summary>
        Stored,
        Floats,
        Doubles,
        Decimals,
    }

    /// <summary>
    /// Returns the sum of the numbers in the widest of their types, or their average, whose type is never an integer.
    /// As in RavenDB, numbers from documents are added with all their digits. For computed ints and longs, only the
    /// final sum must fit the type. Computed doubles are added as doubles, or in a reduce by their digits.
    /// </summary>
    public static ScriptValue Sum(this ScriptContext context, ScriptValue sequence, int count, bool isAverage)
    {
        var heap = context.Heap;
        int numbers = 0;
        bool hasDouble = false,
            hasOtherThanFloats = false;
        var widest = Summed.Ints;
        for (int index = 0; index < count; index++)
        {
            var element = heap.Containers.Element(sequence, index);
            if (!element.IsNothing)
            {
                var kind = SummedAs(heap, element, isAverage);
                hasDouble |= kind is Summed.Floats or Summed.Doubles;
                hasOtherThanFloats |= kind != Summed.Floats;
                widest = kind > widest ? kind : widest;
                numbers++;
            }
        }

        if (numbers == 0)
        {
            return isAverage ? ScriptValue.Null : ScriptValue.OfInt(0);
        }

        switch (widest)
        {
            case Summed.Decimals when hasDouble:
                throw CSharpOperators.Mixed();
            case Summed.Decimals:
                decimal exact = SumOfDecimals(heap, sequence, count);
                return heap.ValueOf(new CSharpNumber(isAverage ? exact / numbers : exact));
            case Summed.Floats or Summed.Doubles:
                double real = SumOfReals(context, sequence, count);
                real = isAverage ? real / numbers : real;
                return hasOtherThanFloats ? ScriptValue.OfReal(real) : ScriptValue.OfSingle((float)real);
        }

        var sum = DigitsOfSum(heap, sequence, count);
        if (isAverage)
        {
            return ScriptValue.OfReal(sum.Average(numbers));
        }

        if (widest == Summed.Stored)
        {
            return heap.WithDigitsOf(sum, isReal: true);
        }

        bool isLong = sum.TryGetWhole(out long whole);
        if (isLong)
        {
            if (widest == Summed.Ints)
            {
                return ScriptValue.OfInt(checked((int)whole));
            }

            return ScriptValue.OfWhole(whole);
        }

        if (widest == Summed.StoredWhole)
        {
            return heap.WithDigitsOf(sum, isReal: false);
        }

        throw new OverflowException();
    }

    private static Summed SummedAs(ScriptHeap heap, ScriptValue element, bool isAverage)
    {
        if (element.Kind == ValueKind.StoredNumber)
        {
            return heap.Span(element).IndexOfAny(".eE"u8) < 0 ? Summed.StoredWhole : Summed.Stored;
        }

        return heap.Required(element, isAverage ? ScriptFunction.Average : ScriptFunction.Sum).Type switch
        {
            CSharpNumberType.Int => Summed.Ints,
            CSharpNumberType.Whole => Summed.Longs,
            CSharpNumberType.Single => Summed.Floats,
            CSharpNumberType.Real => Summed.Doubles,
            _ => Summed.Decimals,
        };
    }

    /// <summary>Returns the exact sum of numbers, by their digits.</summary>
    private static ExactSum DigitsOfSum(ScriptHeap heap, ScriptValue sequence, int count)
    {
        var sum = default(ExactSum);
        Span<byte> room = stackalloc byte[JsonNumber.MaxDecimalBytes];
        for (int index = 0; index < count; index++)
        {
            var element = heap.Containers.Element(sequence, index);
            switch (element.Kind)
            {
                case ValueKind.Undefined or ValueKind.Null:
                    break;
                case ValueKind.Decimal:
                    sum.Add(heap.Span(element));
                    break;
                default:
                    sum.Add(heap.DigitsOf(element, room));
                    break;
            }
        }

        return sum;
    }

    /// <summary>Returns the sum as a double. C# adds floats as doubles, too, and converts the sum to a float.</summary>
    private static double SumOfReals(ScriptContext context, ScriptValue sequence, int count)
    {
        var heap = context.Heap;
        double sum = 0;
        bool areFinite = true;
        for (int index = 0; index < count; index++)
        {
            var element = heap.Containers.Element(sequence, index);
            if (!element.IsNothing)
            {
                double real = heap.NumeralOf(element).Real;
                areFinite &= double.IsFinite(real);
                sum += real;
            }
        }

        return context.AddsDecimals && areFinite ? DigitsOfSum(heap, sequence, count).ToDouble() : sum;
    }

    /// <summary>
    /// Returns the sum as a decimal. It has as many digits after the point as the number that has the most.
    /// </summary>
    private static decimal SumOfDecimals(ScriptHeap heap, ScriptValue sequence, int count)
    {
        var sum = default(ExactSum);
        Span<byte> room = stackalloc byte[JsonNumber.MaxDecimalBytes];
        int scale = 0;
        for (int index = 0; index < count; index++)
        {
            var element = heap.Containers.Element(sequence, index);
            if (!element.IsNothing)
            {
                decimal number = heap.DecimalOf(element);
                number.TryFormat(room, out int length, default, CultureInfo.InvariantCulture);
                sum.Add(room[..length]);
                scale = Math.Max(scale, number.Scale);
            }
        }

        Span<byte> digits = stackalloc byte[ExactSum.MaxBytes];
        decimal exact = decimal.Parse(digits[..sum.Write(digits)], NumberStyles.Float, CultureInfo.InvariantCulture);
        // The addition of a zero with this scale appends the missing zeros after the point.
        return exact + new decimal(0, 0, 0, isNegative: false, (byte)scale);
    }

    /// <summary>Returns a sum as a number with all its digits.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="sum">The sum.</param>
    /// <param name="isReal">Whether to write the number as a double rather than as an integer.</param>
    public static ScriptValue WithDigitsOf(this ScriptHeap heap, ExactSum sum, bool isReal)
    {
        var room = heap.Reserve(ExactSum.MaxBytes);
        int length = isReal ? sum.WriteReal(room) : sum.WriteWhole(room);
        return heap.TakeDigits(length);
    }
}
