using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>Sorts arrays. The memory for sorting counts as memory of the script.</summary>
internal static class ArraySorting
{
    /// <summary>
    /// Memory for each element: its value, its text, its index, and its index after the current merge pass.
    /// </summary>
    private const int BytesPerSorted = 40;

    /// <summary>
    /// Sorts an array in place, in stable order, by the texts of its elements, as JavaScript does without a comparison
    /// function. Undefined elements go to the end.
    /// </summary>
    public static ScriptValue Sort(this ScriptHeap heap, ScriptValue array, int count)
    {
        heap.Containers.RequireChangeable(array);
        long held = (long)count * BytesPerSorted;
        heap.Budget.Spend(1 + (2 * count));
        heap.Budget.Hold(held);
        var memory = PooledMemory.Rent((int)held);
        try
        {
            // Two values of 16 bytes for each element, then two indexes of 4 bytes.
            var values = MemoryMarshal.Cast<byte, ScriptValue>(memory.Span)[..(2 * count)];
            var indexes = MemoryMarshal.Cast<byte, int>(memory.Span)[(8 * count)..(10 * count)];
            Sort(heap, array, values[..count], values[count..], indexes[..count], indexes[count..]);
        }
        finally
        {
            memory.Return();
            heap.Budget.ReleaseHeld(held);
        }

        return array;
    }

    private static void Sort(
        ScriptHeap heap,
        ScriptValue array,
        Span<ScriptValue> source,
        Span<ScriptValue> keys,
        Span<int> order,
        Span<int> buffer
    )
    {
        heap.Containers.Elements(array).CopyTo(source);
        for (int index = 0; index < source.Length; index++)
        {
            order[index] = index;
            keys[index] = source[index].Kind == ValueKind.Undefined ? default : heap.ToText(source[index]);
        }

        heap.MergeSort(new TextOrder(heap, keys), order, buffer);
        var elements = heap.Containers.Elements(array);
        for (int index = 0; index < elements.Length; index++)
        {
            elements[index] = source[order[index]];
        }
    }

    /// <summary>
    /// Sorts indexes by merging, bottom up. The number of comparisons does not depend on the order of the input, and a
    /// comparison may throw.
    /// </summary>
    /// <param name="heap">The heap.</param>
    /// <param name="comparer">Compares two of the indexes.</param>
    /// <param name="order">The indexes.</param>
    /// <param name="buffer">As long as <paramref name="order"/>.</param>
    public static void MergeSort<TOrder>(this ScriptHeap heap, TOrder comparer, Span<int> order, Span<int> buffer)
        where TOrder : ISortOrder, allows ref struct
    {
        const int MovesPerStep = 4;
        for (int width = 1; width < order.Length; width *= 2)
        {
            heap.Budget.Spend(1 + (order.Length / MovesPerStep));
            for (int from = 0; from < order.Length; from += 2 * width)
            {
                int middle = Math.Min(from + width, order.Length),
                    end = Math.Min(from + (2 * width), order.Length);
                int left = from,
                    right = middle;
                for (int at = from; at < end; at++)
                {
                    buffer[at] =
                        left < middle && (right >= end || comparer.Compare(order[left], order[right]) <= 0)
                            ? order[left++]
                            : order[right++];
                }
            }

            buffer.CopyTo(order);
        }
    }

    private static int CompareKeys(ScriptHeap heap, ScriptValue left, ScriptValue right)
    {
        heap.Budget.Spend(1);
        return left.IsText && right.IsText ? heap.CompareTexts(left, right) : right.IsText.CompareTo(left.IsText);
    }

    private readonly ref struct TextOrder(ScriptHeap heap, ReadOnlySpan<ScriptValue> keys) : ISortOrder
    {
        private readonly ReadOnlySpan<ScriptValue> _keys = keys;

        public int Compare(int left, int right) => CompareKeys(heap, _keys[left], _keys[right]);
    }
}
