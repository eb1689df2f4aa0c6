using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>
/// Sorts arrays by a comparison function of the script, in steps, because the interpreter does not call itself. Between
/// two steps the function's code runs. The state is in <see cref="Locals"/> locals.
/// </summary>
/// <remarks>
/// As in JavaScript, a copy of the array is sorted, undefined elements go to the end without a comparison, and the
/// array changes only at the end. First the elements at the beginning that are in order, or in reverse order, are
/// found; then each of the others is inserted by binary search. V8 makes the same comparisons in arrays of less than
/// 64 elements, so a function that contradicts itself gives the same order here. V8 sorts longer arrays in parts and
/// merges them.
/// </remarks>
internal static class ComparedSorting
{
    /// <summary>Number of locals of a sort.</summary>
    public const int Locals = 7;

    // The locals.
    private const int Array = 0;
    private const int Copy = 1;
    private const int Undefined = 2;

    // The element to insert, and the bounds of its place among the elements before it, which are in order.
    private const int Inserted = 3;
    private const int Low = 4;
    private const int High = 5;

    // One of the states below. Before Inserting, the inserted element is compared with the one before it.
    private const int State = 6;

    private const int Beginning = 0;
    private const int Ascending = 1;
    private const int Descending = 2;
    private const int Inserting = 3;

    private const int MovesPerStep = 8;

    /// <summary>Begins the sort of an array.</summary>
    /// <exception cref="ScriptFailure">The value is no array, or read-only.</exception>
    public static void Begin(ScriptHeap heap, ScriptValue array, Span<ScriptValue> locals)
    {
        if (array.Kind != ValueKind.Array)
        {
            throw new ScriptFailure(
                "the script calls sort on "
                    + (array.IsNothing ? "an array that does not exist" : "a value that is no array")
            );
        }

        heap.Containers.RequireChangeable(array);
        var copy = heap.Containers.NewArray();
        int count = heap.Containers.Count(array);
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            var element = heap.Containers.Element(array, index);
            if (element.Kind != ValueKind.Undefined)
            {
                heap.Containers.Append(copy, element);
            }
        }

        locals[Array] = array;
        locals[Copy] = copy;
        locals[Undefined] = ScriptValue.Of(count - heap.Containers.Count(copy));
        locals[State] = ScriptValue.Of(Beginning);
        SetPlace(locals, inserted: 1, low: 0, high: 1);
    }

    /// <summary>Finds the next two elements to compare; returns false when the array is sorted.</summary>
    public static bool TryNext(
        ScriptHeap heap,
        Span<ScriptValue> locals,
        out ScriptValue inserted,
        out ScriptValue other
    )
    {
        int count = heap.Containers.Count(locals[Copy]);
        if (IntegerOf(locals[State]) != Inserting)
        {
            int next = IntegerOf(locals[Inserted]);
            if (next < count)
            {
                inserted = heap.Containers.Element(locals[Copy], next);
                other = heap.Containers.Element(locals[Copy], next - 1);
                return true;
            }

            EndRun(heap, locals, Math.Min(next, count));
        }

        for (int at = IntegerOf(locals[Inserted]); at < count; at++)
        {
            int low = IntegerOf(locals[Low]);
            int high = IntegerOf(locals[High]);
            if (low < high)
            {
                inserted = heap.Containers.Element(locals[Copy], at);
                other = heap.Containers.Element(locals[Copy], MiddleOf(low, high));
                return true;
            }

            Insert(heap, heap.Containers.Elements(locals[Copy])[low..(at + 1)]);
            SetPlace(locals, at + 1, low: 0, high: at + 1);
        }

        WriteBack(heap, locals);
        (inserted, other) = (ScriptValue.Undefined, ScriptValue.Undefined);
        return false;
    }

    /// <summary>Uses the result of the function: below 0, the inserted element comes before the other one.</summary>
    public static void AddComparison(ScriptHeap heap, ScriptValue result, Span<ScriptValue> locals)
    {
        bool isBefore = heap.ToNumber(result) < 0;
        int state = IntegerOf(locals[State]);
        if (state != Inserting)
        {
            AddToRun(heap, isBefore, state, locals);
            return;
        }

        int middle = MiddleOf(IntegerOf(locals[Low]), IntegerOf(locals[High]));
        if (isBefore)
        {
            locals[High] = ScriptValue.Of(middle);
        }
        else
        {
            locals[Low] = ScriptValue.Of(middle + 1);
        }
    }

    /// <summary>Lengthens the run at the beginning, or ends it before the compared element.</summary>
    private static void AddToRun(ScriptHeap heap, bool isBefore, int state, Span<ScriptValue> locals)
    {
        int compared = IntegerOf(locals[Inserted]);
        if (state == Beginning)
        {
            locals[State] = ScriptValue.Of(isBefore ? Descending : Ascending);
        }
        else if (isBefore != (state == Descending))
        {
            EndRun(heap, locals, compared);
            return;
        }

        locals[Inserted] = ScriptValue.Of(compared + 1);
    }

    private static void EndRun(ScriptHeap heap, Span<ScriptValue> locals, int length)
    {
        if (IntegerOf(locals[State]) == Descending)
        {
            heap.Budget.Spend(length / MovesPerStep);
            heap.Containers.Elements(locals[Copy])[..length].Reverse();
        }

        locals[State] = ScriptValue.Of(Inserting);
        SetPlace(locals, inserted: length, low: 0, high: length);
    }

    /// <summary>Moves the last element to the front.</summary>
    private static void Insert(ScriptHeap heap, Span<ScriptValue> elements)
    {
        heap.Budget.Spend(elements.Length / MovesPerStep);
        var last = elements[^1];
        elements[..^1].CopyTo(elements[1..]);
        elements[0] = last;
    }

    private static void WriteBack(ScriptHeap heap, Span<ScriptValue> locals)
    {
        int defined = heap.Containers.Count(locals[Copy]);
        int count = defined + IntegerOf(locals[Undefined]);
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            var element = index < defined ? heap.Containers.Element(locals[Copy], index) : ScriptValue.Undefined;
            if (index < heap.Containers.Count(locals[Array]))
            {
                heap.Containers.SetElement(locals[Array], index, element);
            }
            else
            {
                heap.Containers.Append(locals[Array], element);
            }
        }
    }

    private static void SetPlace(Span<ScriptValue> locals, int inserted, int low, int high)
    {
        locals[Inserted] = ScriptValue.Of(inserted);
        locals[Low] = ScriptValue.Of(low);
        locals[High] = ScriptValue.Of(high);
    }

    private static int MiddleOf(int low, int high) => low + ((high - low) / 2);

    private static int IntegerOf(ScriptValue local) => (int)local.Double;
}
