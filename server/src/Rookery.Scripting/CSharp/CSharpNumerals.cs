using System.Buffers.Text;
using System.Globalization;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>Converts script values to C# numbers and back.</summary>
internal static class CSharpNumerals
{
    /// <summary>Returns the character code of a <c>char</c>.</summary>
    public static ScriptValue CodeOf(this ScriptHeap heap, ScriptValue character) =>
        ScriptValue.OfInt(heap.NetText(character)[0]);

    /// <summary>
    /// Returns the C# number of a numeric value. A number from a document is a <c>long</c> or a <c>double</c>,
    /// depending on its text. A loop counter is an <c>int</c>.
    /// </summary>
    public static CSharpNumber NumeralOf(this ScriptHeap heap, ScriptValue value)
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
                when Utf8Parser.TryParse(heap.Span(value), out long whole, out int read) && read == value.Length:
                return new CSharpNumber(whole);
            case ValueKind.Decimal:
                return new CSharpNumber(heap.DecimalOf(value));
            default:
                return new CSharpNumber(heap.NumberOf(value));
        }
    }

    /// <summary>Returns a number as a decimal. A number from a document keeps all its digits.</summary>
    public static decimal DecimalOf(this ScriptHeap heap, ScriptValue value)
    {
        if (value.Kind is not (ValueKind.StoredNumber or ValueKind.Decimal))
        {
            return heap.NumeralOf(value).Decimal;
        }

        heap.Budget.SpendOnDigits(value.Length);
        return decimal.Parse(heap.Span(value), NumberStyles.Float, CultureInfo.InvariantCulture);
    }

    public static ScriptValue ValueOf(this ScriptHeap heap, CSharpNumber number)
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
                const int MaxDigits = 32;
                int start = heap.Length;
                number.Decimal.TryFormat(
                    heap.Reserve(MaxDigits),
                    out int length,
                    default,
                    CultureInfo.InvariantCulture
                );
                heap.Advance(length);
                return ScriptValue.InHeap(ValueKind.Decimal, start, length);
        }
    }

    /// <summary>Returns a numeric value as a number. The script fails if the value is no number.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="value">The value.</param>
    /// <param name="user">What needs the number, for the error: <c>a cast</c>.</param>
    public static CSharpNumber Required(this ScriptHeap heap, ScriptValue value, string user) =>
        value.IsNumber
            ? heap.NumeralOf(value)
            : throw new ScriptFailure($"the script uses {user} on {CSharpStrings.NameOf(value)}, which is no number");

    public static CSharpNumber Required(this ScriptHeap heap, ScriptValue value, ScriptFunction user) =>
        value.IsNumber ? heap.NumeralOf(value) : heap.Required(value, FunctionNames.Of(user));

    public static CSharpNumber RequiredOrCode(this ScriptHeap heap, ScriptFunction function, ScriptValue value) =>
        heap.Required(value.Trait == ValueTrait.Character ? heap.CodeOf(value) : value, function);
}
