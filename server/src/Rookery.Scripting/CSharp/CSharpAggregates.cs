using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.CSharp;

/// <summary>The aggregates of C# sequences: sum, average, minimum, maximum, and the distinct elements.</summary>
internal static class CSharpAggregates
{
    /// <summary>
    /// Computes an aggregate of a sequence. All except the distinct elements ignore nulls. The least and the greatest
    /// of no values are null.
    /// </summary>
    public static ScriptValue Aggregate(this ScriptContext context, ScriptFunction function, ScriptValue sequence)
    {
        var heap = context.Heap;
        int count = heap.Containers.Count(sequence);
        heap.Budget.Spend(1 + count);
        switch (function)
        {
            case ScriptFunction.Distinct:
                return heap.AddNew(heap.Containers.NewArray(), sequence);
            case ScriptFunction.Sum or ScriptFunction.Average:
                return context.Sum(sequence, count, isAverage: function == ScriptFunction.Average);
        }

        var extreme = ScriptValue.Null;
        for (int index = 0; index < count; index++)
        {
            var element = heap.Containers.Element(sequence, index);
            if (
                !element.IsNothing
                && (extreme.IsNothing || Replaces(heap, element, extreme, isLeast: function == ScriptFunction.Least))
            )
            {
                extreme = element;
            }
        }

        return extreme;
    }

    /// <summary>
    /// Returns whether a value replaces the least or greatest so far. If equal numbers have different text in
    /// documents, the text with the lesser bytes is kept, so the order of numbers does not matter.
    /// </summary>
    private static bool Replaces(ScriptHeap heap, ScriptValue value, ScriptValue extreme, bool isLeast)
    {
        int order = heap.CompareInOrder(value, extreme);
        return order != 0
            ? (order < 0) == isLeast
            : value.Kind == ValueKind.StoredNumber
                && extreme.Kind == ValueKind.StoredNumber
                && heap.Span(value).SequenceCompareTo(heap.Span(extreme)) < 0;
    }
}
