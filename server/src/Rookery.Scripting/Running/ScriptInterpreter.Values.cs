using System.Globalization;
using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>What operators do with values: JavaScript's rules.</content>
public sealed partial class ScriptInterpreter
{
    private bool IsTrue(ScriptValue value) =>
        value.Kind switch
        {
            ValueKind.Undefined or ValueKind.Null or ValueKind.False => false,
            _ when value.IsNumber => _heap.NumberOf(value) is var number && number != 0 && !double.IsNaN(number),
            ValueKind.Text or ValueKind.EscapedText => value.Length > 0,
            _ => true,
        };

    private double ToNumber(ScriptValue value)
    {
        switch (value.Kind)
        {
            case ValueKind.Undefined:
                return double.NaN;
            case ValueKind.Null or ValueKind.False:
                return 0;
            case ValueKind.True:
                return 1;
            case var _ when value.IsNumber:
                return _heap.NumberOf(value);
            default:
                var text = ToText(value);
                _heap.SpendOnDigits(text.Length);
                return NumberText.Parse(_heap.Span(text));
        }
    }

    /// <summary>A whole number within the bounds, as the indexes of methods are read.</summary>
    private int ToInteger(ScriptValue value, int least, int most)
    {
        double number = ToNumber(value);
        return double.IsNaN(number) ? Math.Clamp(0, least, most) : (int)Math.Clamp(Math.Truncate(number), least, most);
    }

    /// <summary>The value's text, without escapes.</summary>
    private ScriptValue ToText(ScriptValue value)
    {
        if (value.IsText)
        {
            return _heap.Plain(value);
        }

        int start = _heap.Length;
        AddText(value, 0);
        return _heap.TextFrom(start);
    }

    /// <summary>Adds the value's text to the end of the heap.</summary>
    private void AddText(ScriptValue value, int level)
    {
        switch (value.Kind)
        {
            case ValueKind.Text:
                _heap.AddCopy(value.Start, value.Length);
                break;
            case ValueKind.EscapedText:
                _heap.SpendOnBytes(value.Length);
                var room = _heap.Reserve(value.Length);
                _heap.Advance(JsonText.Unescape(_heap.Span(value), room));
                break;
            case ValueKind.Number or ValueKind.StoredNumber:
                double number = _heap.NumberOf(value);
                _heap.Advance(JsonNumber.Format(number, _heap.Reserve(JsonNumber.MostBytes)));
                break;
            case >= ValueKind.Whole:
                AddCSharpText(value);
                break;
            case ValueKind.Array:
                AddJoined(value, default, ","u8, level);
                break;
            default:
                _heap.Add(
                    value.Kind switch
                    {
                        ValueKind.Undefined => "undefined"u8,
                        ValueKind.Null => "null"u8,
                        ValueKind.True => "true"u8,
                        ValueKind.False => "false"u8,
                        _ => "[object Object]"u8,
                    }
                );
                break;
        }
    }

    /// <summary>Adds the texts of elements; nothing is an empty text.</summary>
    private void AddJoined(ScriptValue array, ScriptValue separator, ReadOnlySpan<byte> literal, int level)
    {
        if (level > JsonLimits.MaxDepth)
        {
            throw new ScriptFailure($"a value is nested deeper than {JsonLimits.MaxDepth} levels");
        }

        for (int index = 0; index < _heap.Count(array); index++)
        {
            _heap.Spend(1);
            if (index > 0)
            {
                if (separator.IsText)
                {
                    _heap.AddCopy(separator.Start, separator.Length);
                }
                else
                {
                    _heap.Add(literal);
                }
            }

            var element = _heap.Element(array, index);
            if (!element.IsNothing)
            {
                AddText(element, level + 1);
            }
        }
    }

    private ScriptValue Calculate(Opcode opcode, ScriptValue left, ScriptValue right)
    {
        switch (opcode)
        {
            case Opcode.Add:
                return left.IsText || right.IsText || left.IsContainer || right.IsContainer
                    ? JoinTexts(left, right)
                    : AddNumbers(AsNumber(left), AsNumber(right));
            case Opcode.JoinTexts:
                return JoinTexts(left, right);
            case Opcode.Subtract:
                return AddNumbers(AsNumber(left), AsNumber(right), isMinus: true);
            case Opcode.Multiply:
                return ScriptValue.Of(ToNumber(left) * ToNumber(right));
            case Opcode.Divide:
                return ScriptValue.Of(ToNumber(left) / ToNumber(right));
            case Opcode.Remainder:
                return ScriptValue.Of(Remainder(ToNumber(left), ToNumber(right)));
            case Opcode.LooseEqual:
                return ScriptValue.Of(AreLooselyEqual(left, right));
            case Opcode.LooseUnequal:
                return ScriptValue.Of(!AreLooselyEqual(left, right));
            case Opcode.StrictEqual:
                return ScriptValue.Of(AreEqual(left, right));
            case Opcode.StrictUnequal:
                return ScriptValue.Of(!AreEqual(left, right));
            case Opcode.Less or Opcode.LessOrEqual or Opcode.Greater or Opcode.GreaterOrEqual:
                return ScriptValue.Of(IsOrdered(opcode, left, right));
            default:
                throw ScriptProgram.Broken();
        }
    }

    private ScriptValue AsNumber(ScriptValue value) => value.IsNumber ? value : ScriptValue.Of(ToNumber(value));

    /// <summary>
    /// Adds a number, or takes it away. In a reduce the sum has the digits that it needs, also those that a double has
    /// not: it is added to others again.
    /// </summary>
    private ScriptValue AddNumbers(ScriptValue left, ScriptValue right, bool isMinus = false)
    {
        if (AddsDecimals && TryReadDecimal(left, out decimal first) && TryReadDecimal(right, out decimal second))
        {
            if (DecimalSum.TryAdd(first, isMinus ? -second : second, out decimal sum))
            {
                return DecimalSum.IsShortWhole(sum) ? ScriptValue.Of((long)sum) : WithDigitsOf(sum);
            }
        }
        else if (!AddsDecimals || !HasDigits(left) || !HasDigits(right))
        {
            double other = _heap.NumberOf(right);
            return ScriptValue.Of(_heap.NumberOf(left) + (isMinus ? -other : other));
        }

        return AddDigits(left, right, isMinus);
    }

    private bool HasDigits(ScriptValue number) =>
        number.Kind == ValueKind.StoredNumber || double.IsFinite(_heap.NumberOf(number));

    private ScriptValue WithDigitsOf(decimal number)
    {
        return TakeDigits(JsonNumber.Format(number, _heap.Reserve(JsonNumber.MostDecimalBytes)));
    }

    private ScriptValue AddDigits(ScriptValue left, ScriptValue right, bool isMinus)
    {
        var sum = default(ExactSum);
        Span<byte> room = stackalloc byte[JsonNumber.MostDecimalBytes];
        sum.Add(DigitsOf(left, room));
        if (isMinus)
        {
            sum.Subtract(DigitsOf(right, room));
        }
        else
        {
            sum.Add(DigitsOf(right, room));
        }

        return TakeDigits(sum.Write(_heap.Reserve(ExactSum.MostBytes)));
    }

    /// <summary>The number whose digits were written behind the bytes in use.</summary>
    private ScriptValue TakeDigits(int length)
    {
        int start = _heap.Length;
        _heap.SpendOnDigits(length);
        _heap.Advance(length);
        return ScriptValue.InHeap(ValueKind.StoredNumber, start, length);
    }

    /// <summary>The digits of a number of a document; of a computed one 15 where a decimal has them.</summary>
    private ReadOnlySpan<byte> DigitsOf(ScriptValue number, Span<byte> room)
    {
        if (number.Kind == ValueKind.StoredNumber)
        {
            _heap.SpendOnDigits(number.Length);
            return _heap.Span(number);
        }

        if (number.Kind == ValueKind.Whole)
        {
            number.Whole.TryFormat(room, out int length, default, CultureInfo.InvariantCulture);
            return room[..length];
        }

        double real = _heap.NumberOf(number);
        return DecimalSum.TryRead(real, out decimal value) && value != 0
            ? room[..JsonNumber.Format(value, room)]
            : room[..JsonNumber.Format(real, room)];
    }

    private bool TryReadDecimal(ScriptValue value, out decimal number) =>
        value.Kind == ValueKind.StoredNumber
            ? DecimalSum.TryRead(_heap.Span(value), out number)
            : DecimalSum.TryRead(_heap.NumberOf(value), out number);

    private double AddReals(double left, double right) => AddsDecimals ? DecimalSum.Add(left, right) : left + right;

    private double Remainder(double left, double right)
    {
        SpendOnRemainder(left, right);
        return left % right;
    }

    /// <summary>The C library divides bit by bit, so numbers of very different size take long.</summary>
    private void SpendOnRemainder(double left, double right)
    {
        const int BitsPerStep = 16;
        _heap.Spend(Math.Max(ExponentOf(left) - ExponentOf(right), 0) / BitsPerStep);
    }

    private static int ExponentOf(double number) => (int)(BitConverter.DoubleToUInt64Bits(number) >> 52) & 0x7FF;

    /// <summary>
    /// A text that ends at the end of the heap is continued there: texts never change, so its beginning may belong to
    /// two. Not where halves of pairs may meet, because merging them changes its end.
    /// </summary>
    private ScriptValue JoinTexts(ScriptValue left, ScriptValue right)
    {
        bool isLast = left.Kind == ValueKind.Text && left.Start + left.Length == _heap.Length;
        if (isLast && !right.IsContainer && !_heap.HasHalves)
        {
            AddText(right, 0);
            return _heap.TextFrom(left.Start);
        }

        int start = _heap.Length;
        AddText(left, 0);
        AddText(right, 0);
        return _heap.TextFrom(start);
    }

    /// <summary><c>===</c>.</summary>
    private bool AreEqual(ScriptValue left, ScriptValue right)
    {
        if (left.IsNumber && right.IsNumber)
        {
            return _heap.NumberOf(left) == _heap.NumberOf(right);
        }

        if (left.IsText && right.IsText)
        {
            int kept = _heap.Length;
            var (a, b) = (_heap.Plain(left), _heap.Plain(right));
            _heap.SpendOnBytes(Math.Min(a.Length, b.Length));
            bool areEqual = _heap.Span(a).SequenceEqual(_heap.Span(b));
            _heap.Truncate(kept);
            return areEqual;
        }

        return left.IsTemporal || right.IsTemporal
            ? IsSame(left, right)
            : left.Kind == right.Kind && (!left.IsContainer || left.Start == right.Start);
    }

    /// <summary><c>==</c>.</summary>
    private bool AreLooselyEqual(ScriptValue left, ScriptValue right)
    {
        if (left.IsNothing || right.IsNothing)
        {
            return left.IsNothing && right.IsNothing;
        }

        if ((left.IsText && right.IsText) || (left.IsContainer && right.IsContainer))
        {
            return AreEqual(left, right);
        }

        if ((left.IsContainer && right.IsText) || (left.IsText && right.IsContainer))
        {
            return AreEqual(ToText(left), ToText(right));
        }

        return ToNumber(left) == ToNumber(right);
    }

    private bool IsOrdered(Opcode opcode, ScriptValue left, ScriptValue right)
    {
        left = left.IsContainer ? ToText(left) : left;
        right = right.IsContainer ? ToText(right) : right;
        if (left.IsText && right.IsText)
        {
            int order = CompareTexts(left, right);
            return opcode switch
            {
                Opcode.Less => order < 0,
                Opcode.LessOrEqual => order <= 0,
                Opcode.Greater => order > 0,
                _ => order >= 0,
            };
        }

        double a = ToNumber(left),
            b = ToNumber(right);
        return opcode switch
        {
            Opcode.Less => a < b,
            Opcode.LessOrEqual => a <= b,
            Opcode.Greater => a > b,
            _ => a >= b,
        };
    }

    private int CompareTexts(ScriptValue left, ScriptValue right)
    {
        // Texts without their escapes are not kept: a sort compares one many times.
        int kept = _heap.Length;
        var (a, b) = (_heap.Plain(left), _heap.Plain(right));
        _heap.SpendOnBytes(Math.Min(a.Length, b.Length));
        int order = Utf16Text.Compare(_heap.Span(a), _heap.Span(b));
        _heap.Truncate(kept);
        return order;
    }

    private static ReadOnlySpan<byte> TypeOf(ScriptValue value) =>
        value.Kind switch
        {
            ValueKind.Undefined => "undefined"u8,
            ValueKind.False or ValueKind.True => "boolean"u8,
            _ when value.IsNumber => "number"u8,
            ValueKind.Text or ValueKind.EscapedText => "string"u8,
            _ => "object"u8,
        };
}
