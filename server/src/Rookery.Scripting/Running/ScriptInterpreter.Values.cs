using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>What operators do with values: JavaScript's rules.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue Calculate(Opcode opcode, ScriptValue left, ScriptValue right)
    {
        switch (opcode)
        {
            case Opcode.Add:
                return left.IsText || right.IsText || left.IsContainer || right.IsContainer
                    ? JoinTexts(left, right)
                    : _context.AddNumbers(_heap.AsNumber(left), _heap.AsNumber(right));
            case Opcode.JoinTexts:
                return JoinTexts(left, right);
            case Opcode.Subtract:
                return _context.AddNumbers(_heap.AsNumber(left), _heap.AsNumber(right), isMinus: true);
            case Opcode.Multiply:
                return ScriptValue.Of(_heap.ToNumber(left) * _heap.ToNumber(right));
            case Opcode.Divide:
                return ScriptValue.Of(_heap.ToNumber(left) / _heap.ToNumber(right));
            case Opcode.Remainder:
                return ScriptValue.Of(Remainder(_heap.ToNumber(left), _heap.ToNumber(right)));
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
            _heap.AddText(right, 0);
            return _heap.TextFrom(left.Start);
        }

        int start = _heap.Length;
        _heap.AddText(left, 0);
        _heap.AddText(right, 0);
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
            return AreEqual(_heap.ToText(left), _heap.ToText(right));
        }

        return _heap.ToNumber(left) == _heap.ToNumber(right);
    }

    private bool IsOrdered(Opcode opcode, ScriptValue left, ScriptValue right)
    {
        left = left.IsContainer ? _heap.ToText(left) : left;
        right = right.IsContainer ? _heap.ToText(right) : right;
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

        double a = _heap.ToNumber(left),
            b = _heap.ToNumber(right);
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
}
