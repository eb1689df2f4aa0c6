using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>Computes binary operators by JavaScript's rules.</summary>
internal static class Operators
{
    /// <summary>Computes the operator of an opcode.</summary>
    public static ScriptValue Calculate(this ScriptContext context, Opcode opcode, ScriptValue left, ScriptValue right)
    {
        var heap = context.Heap;
        switch (opcode)
        {
            // A reduce adds and subtracts by decimal digits. AsNumber preserves the digits of a number from a document,
            // which ToNumber rounds to a double. Products, quotients and remainders are always doubles.
            case Opcode.Add:
                return left.IsText || right.IsText || left.HasIdentity || right.HasIdentity
                    ? heap.JoinTexts(left, right)
                    : context.AddNumbers(heap.AsNumber(left), heap.AsNumber(right));
            case Opcode.JoinTexts:
                return heap.JoinTexts(left, right);
            case Opcode.Subtract:
                return context.AddNumbers(heap.AsNumber(left), heap.AsNumber(right), isMinus: true);
            case Opcode.Multiply:
                return ScriptValue.Of(heap.ToNumber(left) * heap.ToNumber(right));
            case Opcode.Divide:
                return ScriptValue.Of(heap.ToNumber(left) / heap.ToNumber(right));
            case Opcode.Remainder:
                return ScriptValue.Of(Remainder(heap, heap.ToNumber(left), heap.ToNumber(right)));
            case Opcode.LooseEqual:
                return ScriptValue.Of(AreLooselyEqual(heap, left, right));
            case Opcode.LooseUnequal:
                return ScriptValue.Of(!AreLooselyEqual(heap, left, right));
            case Opcode.StrictEqual:
                return ScriptValue.Of(heap.AreEqual(left, right));
            case Opcode.StrictUnequal:
                return ScriptValue.Of(!heap.AreEqual(left, right));
            case Opcode.Less or Opcode.LessOrEqual or Opcode.Greater or Opcode.GreaterOrEqual:
                return ScriptValue.Of(IsOrdered(heap, opcode, left, right));
            case Opcode.BitwiseAnd:
                return ScriptValue.Of(heap.ToInt32(left) & heap.ToInt32(right));
            case Opcode.BitwiseOr:
                return ScriptValue.Of(heap.ToInt32(left) | heap.ToInt32(right));
            case Opcode.BitwiseXor:
                return ScriptValue.Of(heap.ToInt32(left) ^ heap.ToInt32(right));
            case Opcode.ShiftLeft:
                return ScriptValue.Of(heap.ToInt32(left) << heap.ToInt32(right));
            case Opcode.ShiftRight:
                return ScriptValue.Of(heap.ToInt32(left) >> heap.ToInt32(right));
            case Opcode.ShiftRightUnsigned:
                return ScriptValue.Of((uint)heap.ToInt32(left) >> heap.ToInt32(right));
            case Opcode.In:
                return ScriptValue.Of(
                    right.IsContainer
                        ? heap.HasMember(right, left)
                        : throw new ScriptFailure("the script looks by 'in' for a member of a value that is no object")
                );
            default:
                throw ScriptProgram.Broken();
        }
    }

    /// <summary>
    /// Returns the integer that bitwise operators compute with: the number without its fraction, modulo 2^32, or 0 for
    /// NaN and infinities (ECMA-262, ToInt32).
    /// </summary>
    public static int ToInt32(this ScriptHeap heap, ScriptValue value)
    {
        const double Modulus = 4_294_967_296;
        double number = heap.ToNumber(value);
        if (!double.IsFinite(number))
        {
            return 0;
        }

        heap.SpendOnRemainder(number, Modulus);
        return unchecked((int)(long)(Math.Truncate(number) % Modulus));
    }

    /// <summary>
    /// Concatenates two texts. If the left text is at the end of the heap, it is extended in place, and both texts
    /// share its bytes. Not done where halves of surrogate pairs may meet, because merging them would change the left
    /// text.
    /// </summary>
    public static ScriptValue JoinTexts(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        bool isLast = left.Kind == ValueKind.Text && left.Start + left.Length == heap.Length;
        if (isLast && !right.HasIdentity && !heap.HasLoneSurrogates)
        {
            heap.AddText(right, level: 0);
            return heap.TextFrom(left.Start);
        }

        int start = heap.Length;
        heap.AddText(left, level: 0);
        heap.AddText(right, level: 0);
        return heap.TextFrom(start);
    }

    /// <summary>Compares as <c>===</c>.</summary>
    public static bool AreEqual(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        if (left.IsNumber && right.IsNumber)
        {
            return heap.NumberOf(left) == heap.NumberOf(right);
        }

        if (left.IsText && right.IsText)
        {
            // Texts that were unescaped for the comparison are removed from the heap again, because a loop may compare
            // many texts.
            int heapLength = heap.Length;
            var (a, b) = (heap.Plain(left), heap.Plain(right));
            heap.Budget.SpendOnBytes(Math.Min(a.Length, b.Length));
            bool areEqual = heap.Span(a).SequenceEqual(heap.Span(b));
            heap.Truncate(heapLength);
            return areEqual;
        }

        // False and True are kinds of their own, so equal kinds are equal values. Objects are compared by identity.
        return left.IsTemporal || right.IsTemporal
            ? heap.IsSame(left, right)
            : left.Kind == right.Kind && (!left.HasIdentity || left.Start == right.Start);
    }

    /// <summary>Compares as <c>==</c>.</summary>
    private static bool AreLooselyEqual(ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        if (left.IsNothing || right.IsNothing)
        {
            return left.IsNothing && right.IsNothing;
        }

        if ((left.IsText && right.IsText) || (left.HasIdentity && right.HasIdentity))
        {
            return heap.AreEqual(left, right);
        }

        if ((left.HasIdentity && right.IsText) || (left.IsText && right.HasIdentity))
        {
            return heap.AreEqual(heap.ToText(left), heap.ToText(right));
        }

        if (left.Kind == ValueKind.Moment || right.Kind == ValueKind.Moment)
        {
            // Compared with a number or Boolean, a date of JavaScript is its text, not its number.
            (left, right) = (
                left.Kind == ValueKind.Moment ? heap.ToText(left) : left,
                right.Kind == ValueKind.Moment ? heap.ToText(right) : right
            );
        }

        return heap.ToNumber(left) == heap.ToNumber(right);
    }

    private static bool IsOrdered(ScriptHeap heap, Opcode opcode, ScriptValue left, ScriptValue right)
    {
        left = left.IsContainer ? heap.ToText(left) : left;
        right = right.IsContainer ? heap.ToText(right) : right;
        if (left.IsText && right.IsText)
        {
            int order = heap.CompareTexts(left, right);
            return opcode switch
            {
                Opcode.Less => order < 0,
                Opcode.LessOrEqual => order <= 0,
                Opcode.Greater => order > 0,
                _ => order >= 0,
            };
        }

        double a = heap.ToNumber(left),
            b = heap.ToNumber(right);
        return opcode switch
        {
            Opcode.Less => a < b,
            Opcode.LessOrEqual => a <= b,
            Opcode.Greater => a > b,
            _ => a >= b,
        };
    }

    /// <summary>Returns the order of two texts, as <see cref="Utf16Text.Compare"/>.</summary>
    public static int CompareTexts(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        // Texts that were unescaped for the comparison are removed from the heap again, because a sort compares each
        // element many times.
        int heapLength = heap.Length;
        var (a, b) = (heap.Plain(left), heap.Plain(right));
        heap.Budget.SpendOnBytes(Math.Min(a.Length, b.Length));
        int order = Utf16Text.Compare(heap.Span(a), heap.Span(b));
        heap.Truncate(heapLength);
        return order;
    }

    private static double Remainder(ScriptHeap heap, double left, double right)
    {
        heap.SpendOnRemainder(left, right);
        return left % right;
    }

    /// <summary>
    /// Counts the steps of a remainder. The C library divides bit by bit, so numbers of very different magnitude take
    /// long.
    /// </summary>
    public static void SpendOnRemainder(this ScriptHeap heap, double left, double right)
    {
        const int BitsPerStep = 16;
        heap.Budget.Spend(Math.Max(ExponentOf(left) - ExponentOf(right), 0) / BitsPerStep);
    }

    // The biased exponent of a double is in the 11 bits above its 52 bits of fraction.
    private static int ExponentOf(double number) => (int)(BitConverter.DoubleToUInt64Bits(number) >> 52) & 0x7FF;
}
