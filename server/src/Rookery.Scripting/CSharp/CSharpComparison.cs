using Rookery.Json;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>Order and equality of C# values.</summary>
internal static class CSharpComparison
{
    /// <summary>Returns the order of two values of one type; null if one is NaN.</summary>
    public static int? Compare(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        if (left.IsNumber && right.IsNumber)
        {
            CSharpOperators.RequireNoMix(left, right);
            return left.Kind == ValueKind.Decimal || right.Kind == ValueKind.Decimal
                ? heap.DecimalOf(left).CompareTo(heap.DecimalOf(right))
                : CSharpNumber.Compare(heap.NumeralOf(left), heap.NumeralOf(right));
        }

        if (left.Trait == ValueTrait.Weekday && right.Trait == ValueTrait.Weekday)
        {
            return heap.WeekdayOf(left).CompareTo(heap.WeekdayOf(right));
        }

        var (first, second) = (heap.TimeOf(left), heap.TimeOf(right));
        if (first.IsOfOneType(second))
        {
            return first.OrderTo(second);
        }

        if (left.IsText && right.IsText && !first.IsDateOrSpan && !second.IsDateOrSpan)
        {
            return heap.CompareTexts(left, right);
        }

        throw new ScriptFailure($"the script compares {CSharpStrings.NameOf(left)} with {CSharpStrings.NameOf(right)}");
    }

    /// <summary>Returns the day that a value with <see cref="ValueTrait.Weekday"/> names.</summary>
    public static DayOfWeek WeekdayOf(this ScriptHeap heap, ScriptValue value) =>
        Enum.Parse<DayOfWeek>(heap.NetText(value));

    /// <summary>
    /// Returns the order of two values that are not null: NaN sorts before other numbers, false before true.
    /// </summary>
    public static int CompareInOrder(this ScriptHeap heap, ScriptValue first, ScriptValue second) =>
        first.Kind is ValueKind.True or ValueKind.False && second.Kind is ValueKind.True or ValueKind.False
            ? first.Kind.CompareTo(second.Kind)
            : heap.Compare(first, second)
                ?? double.IsNaN(heap.NumberOf(second)).CompareTo(double.IsNaN(heap.NumberOf(first)));

    /// <summary>Returns whether two values are equal in C#; arrays and objects are compared by content.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="left">The first value.</param>
    /// <param name="right">The second value.</param>
    /// <param name="level">Number of containers around the values.</param>
    /// <param name="isOperator">Whether types that cannot be compared make the script fail, as with <c>==</c>.</param>
    public static bool IsSame(
        this ScriptHeap heap,
        ScriptValue left,
        ScriptValue right,
        int level = 0,
        bool isOperator = false
    )
    {
        heap.Budget.Spend(1);
        if (left.IsNothing || right.IsNothing)
        {
            return left.IsNothing && right.IsNothing;
        }

        if (left.IsNumber && right.IsNumber)
        {
            return heap.Compare(left, right) == 0;
        }

        if (left.IsText && right.IsText && heap.AreEqual(left, right))
        {
            return true;
        }

        var (first, second) = (heap.TimeOf(left), heap.TimeOf(right));
        if (first.IsOfOneType(second))
        {
            return first.OrderTo(second) == 0;
        }

        bool isOfOneType =
            left.Kind == right.Kind || (left.IsText && right.IsText) || (left.IsBoolean && right.IsBoolean);
        if (isOfOneType || !isOperator)
        {
            if (left.IsContainer && left.Kind == right.Kind)
            {
                return left.Start == right.Start || heap.HaveSameMembers(left, right, level + 1);
            }

            return left.Kind == right.Kind && left.IsBoolean;
        }

        throw new ScriptFailure($"the script compares {CSharpStrings.NameOf(left)} with {CSharpStrings.NameOf(right)}");
    }

    /// <summary><c>left.Equals(right)</c>: C# converts the argument to the type of the receiver, if it can.</summary>
    public static bool IsEqual(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        if (left.IsNumber && right.Trait == ValueTrait.Character)
        {
            right = heap.CodeOf(right);
        }

        return AreOfOneTextType(left, right)
            && heap.AcceptsDate(left, right)
            && (!left.IsNumber || !right.IsNumber || heap.Accepts(left, right))
            && heap.IsSame(left, right);
    }

    /// <summary><c>object.Equals(left, right)</c>: values of different types are different.</summary>
    public static bool AreEqualObjects(this ScriptHeap heap, ScriptValue left, ScriptValue right) =>
        AreOfOneTextType(left, right)
        && heap.AcceptsDate(left, right)
        && heap.AcceptsDate(right, left)
        && (!left.IsNumber || !right.IsNumber || heap.NumeralOf(left).Type == heap.NumeralOf(right).Type)
        && heap.IsSame(left, right);

    /// <summary>
    /// Returns whether two texts may be equal in C#: a <c>char</c> is no string, and a <see cref="DayOfWeek"/> equals
    /// only another one, or a text from a document that may be the name of one.
    /// </summary>
    private static bool AreOfOneTextType(ScriptValue left, ScriptValue right)
    {
        if (!left.IsText || !right.IsText)
        {
            return true;
        }

        return (left.Trait == ValueTrait.Character) == (right.Trait == ValueTrait.Character)
            && (
                left.Trait == ValueTrait.Stored
                || right.Trait == ValueTrait.Stored
                || (left.Trait == ValueTrait.Weekday) == (right.Trait == ValueTrait.Weekday)
            );
    }

    /// <summary>
    /// Returns whether a method such as <c>Equals</c> of the first date takes the second: C# converts a
    /// <see cref="DateTime"/> to a <see cref="DateTimeOffset"/>, and no other date to another type. True unless both
    /// values are dates.
    /// </summary>
    public static bool AcceptsDate(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        var (first, second) = (heap.TimeOf(left), heap.TimeOf(right));
        return !first.IsDate
            || !second.IsDate
            || first.Date.Form == second.Date.Form
            || (first.Date.Form != DateForm.Day && second.Date.Form is DateForm.Unspecified or DateForm.Utc);
    }

    /// <summary>
    /// Returns whether a method such as <c>Equals</c> of the first number takes the second: C# converts the second to
    /// the type of the first, if that type is not narrower.
    /// </summary>
    public static bool Accepts(this ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        var (first, second) = (heap.NumeralOf(left), heap.NumeralOf(right));
        bool isStored = left.Kind == ValueKind.StoredNumber || right.Kind == ValueKind.StoredNumber;
        return (second.IsWhole && second.Type <= first.Type)
            || (second.IsReal && first.IsReal && second.Type <= first.Type)
            || (second.Type == CSharpNumberType.Decimal && !first.IsWhole && (isStored || !first.IsReal))
            || (second.IsReal && isStored && first.Type == CSharpNumberType.Decimal);
    }

    /// <summary>
    /// Returns whether two arrays have equal elements in the same order, or two objects equal members in any order.
    /// </summary>
    public static bool HaveSameMembers(this ScriptHeap heap, ScriptValue left, ScriptValue right, int level)
    {
        int count = heap.Containers.Count(left);
        if (count != heap.Containers.Count(right) || level > JsonLimits.MaxDepth)
        {
            return false;
        }

        for (int index = 0; index < count; index++)
        {
            // The index of the equal element or of the member of the same name.
            int rightIndex =
                left.Kind == ValueKind.Array
                    ? index
                    : heap.Containers.Find(right, heap.Span(heap.Plain(heap.Containers.Name(left, index))));
            if (
                rightIndex < 0
                || !(
                    left.Kind == ValueKind.Array
                        ? heap.IsSame(
                            heap.Containers.Element(left, index),
                            heap.Containers.Element(right, rightIndex),
                            level
                        )
                        : heap.IsSame(
                            heap.Containers.Member(left, index),
                            heap.Containers.Member(right, rightIndex),
                            level
                        )
                )
            )
            {
                return false;
            }
        }

        return true;
    }
}
