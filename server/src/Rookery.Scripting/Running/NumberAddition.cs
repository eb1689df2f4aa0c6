using System.Globalization;
using Rookery.Json;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// Adds numbers for scripts. In a reduce, adds by decimal digits, so that sums do not depend on the order.
/// </summary>
internal static class NumberAddition
{
    /// <summary>
    /// Adds or subtracts a number. In a reduce, the sum keeps all its digits, also beyond those of a double, because it
    /// is added to other sums again.
    /// </summary>
    public static ScriptValue AddNumbers(
        this ScriptContext context,
        ScriptValue left,
        ScriptValue right,
        bool isMinus = false
    )
    {
        var heap = context.Heap;
        if (
            context.AddsDecimals
            && TryReadDecimal(heap, left, out decimal first)
            && TryReadDecimal(heap, right, out decimal second)
        )
        {
            if (DecimalSum.TryAdd(first, isMinus ? -second : second, out decimal sum))
            {
                return DecimalSum.IsShortWhole(sum) ? ScriptValue.Of((long)sum) : heap.WithDigitsOf(sum);
            }
        }
        else if (!context.AddsDecimals || !HasDigits(heap, left) || !HasDigits(heap, right))
        {
            double other = heap.NumberOf(right);
            return ScriptValue.Of(heap.NumberOf(left) + (isMinus ? -other : other));
        }

        return AddDigits(heap, left, right, isMinus);
    }

    /// <summary>Adds doubles; in a reduce, by their digits.</summary>
    public static double AddReals(this ScriptContext context, double left, double right) =>
        context.AddsDecimals ? DecimalSum.Add(left, right) : left + right;

    private static bool HasDigits(ScriptHeap heap, ScriptValue number) =>
        number.Kind == ValueKind.StoredNumber || double.IsFinite(heap.NumberOf(number));

    private static ScriptValue AddDigits(ScriptHeap heap, ScriptValue left, ScriptValue right, bool isMinus)
    {
        var sum = default(ExactSum);
        Span<byte> room = stackalloc byte[JsonNumber.MaxDecimalBytes];
        sum.Add(heap.DigitsOf(left, room));
        if (isMinus)
        {
            sum.Subtract(heap.DigitsOf(right, room));
        }
        else
        {
            sum.Add(heap.DigitsOf(right, room));
        }

        return heap.TakeDigits(sum.Write(heap.Reserve(ExactSum.MaxBytes)));
    }

    /// <summary>
    /// Returns the digits of a number: all digits of a number from a document, or up to 15 digits of a computed one if
    /// it fits into a decimal.
    /// </summary>
    public static ReadOnlySpan<byte> DigitsOf(this ScriptHeap heap, ScriptValue number, Span<byte> room)
    {
        if (number.Kind == ValueKind.StoredNumber)
        {
            heap.Budget.SpendOnDigits(number.Length);
            return heap.Span(number);
        }

        if (number.Kind == ValueKind.Whole)
        {
            number.Whole.TryFormat(room, out int length, default, CultureInfo.InvariantCulture);
            return room[..length];
        }

        double real = heap.NumberOf(number);
        return DecimalSum.TryRead(real, out decimal value) && value != 0
            ? room[..JsonNumber.Format(value, room)]
            : room[..JsonNumber.Format(real, room)];
    }

    /// <summary>Returns a number that is written with the digits of a decimal.</summary>
    public static ScriptValue WithDigitsOf(this ScriptHeap heap, decimal number)
    {
        return heap.TakeDigits(JsonNumber.Format(number, heap.Reserve(JsonNumber.MaxDecimalBytes)));
    }

    /// <summary>Returns the number whose digits were written after the used bytes of the heap.</summary>
    public static ScriptValue TakeDigits(this ScriptHeap heap, int length)
    {
        int start = heap.Length;
        heap.Budget.SpendOnDigits(length);
        heap.Advance(length);
        return ScriptValue.InHeap(ValueKind.StoredNumber, start, length);
    }

    private static bool TryReadDecimal(ScriptHeap heap, ScriptValue value, out decimal number) =>
        value.Kind == ValueKind.StoredNumber
            ? DecimalSum.TryRead(heap.Span(value), out number)
            : DecimalSum.TryRead(heap.NumberOf(value), out number);
}
