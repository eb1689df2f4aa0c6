using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>
/// Sorts arrays by a comparison function of the script: a binary insertion sort in steps, because the interpreter does
/// not call itself. Between two steps the function's code runs. The state is in <see cref="Locals"/> locals.
/// </summary>
/// <remarks>
/// As in JavaScript, the function gets elements of a copy, undefined elements go to the end without a comparison, and
/// the array changes only at the end. The order of comparisons is that of V8 up to 32 elements, so that a function that
/// contradicts itself has the same result there.
/// </remarks>
internal static class ComparedSorting
{
    /// <summary>Number of locals of a sort.</summary>
    public const int Locals = 6;

    // The locals.
    private const int Array = 0;
    private const int Copy = 1;
    private const int Undefined = 2;

    // The element to insert, and the bounds of its place among the elements before it, which are in order.
    private const int Inserted = 3;
    private const int Low = 4;
    private const int High = 5;

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

    /// <summary>Uses the result of the function: below 0, the inserted element stands before the other one.</summary>
    public static void AddComparison(ScriptHeap heap, ScriptValue result, Span<ScriptValue> locals)
    {
        int middle = MiddleOf(IntegerOf(locals[Low]), IntegerOf(locals[High]));
        if (heap.ToNumber(result) < 0)
        {
            locals[High] = ScriptValue.Of(middle);
        }
        else
        {
            locals[Low] = ScriptValue.Of(middle + 1);
        }
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
