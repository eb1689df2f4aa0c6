using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.CSharp;

/// <summary>Sorts C# sequences by keys.</summary>
internal static class CSharpSorting
{
    /// <summary>
    /// Sorts elements by their keys, in stable order, and returns the elements. Each item of <c>pairs</c> is an array
    /// of an element and its keys. The directions are a text with one letter for each key: <c>a</c> (ascending) or
    /// <c>d</c> (descending).
    /// </summary>
    public static ScriptValue SortByKeys(this ScriptHeap heap, ScriptValue pairs, int count, ScriptValue directions)
    {
        heap.Budget.Spend(1 + (2 * count));
        string letters = heap.NetText(directions);
        long heldBytes = (long)count * 2 * sizeof(int);
        heap.Budget.Hold(heldBytes);
        var memory = PooledMemory.Rent((int)heldBytes);
        try
        {
            var order = MemoryMarshal.Cast<byte, int>(memory.Span)[..count];
            var buffer = MemoryMarshal.Cast<byte, int>(memory.Span)[count..(2 * count)];
            for (int index = 0; index < count; index++)
            {
                order[index] = index;
            }

            heap.MergeSort(new KeyOrder(heap, pairs, letters), order, buffer);
            var sorted = heap.Containers.NewArray();
            foreach (int index in order)
            {
                heap.Containers.Append(sorted, heap.Containers.Element(heap.Containers.Element(pairs, index), 0));
            }

            return sorted;
        }
        finally
        {
            memory.Return();
            heap.Budget.ReleaseHeld(heldBytes);
        }
    }

    private static int CompareSortKeys(ScriptHeap heap, ScriptValue left, ScriptValue right, string directions)
    {
        for (int key = 0; key < directions.Length; key++)
        {
            heap.Budget.Spend(1);
            var (first, second) = (heap.Containers.Element(left, key + 1), heap.Containers.Element(right, key + 1));
            // As in C#, null comes before any value.
            int order =
                first.IsNothing || second.IsNothing
                    ? second.IsNothing.CompareTo(first.IsNothing)
                    : heap.CompareInOrder(first, second);
            if (order != 0)
            {
                return directions[key] == 'd' ? -order : order;
            }
        }

        return 0;
    }

    private readonly struct KeyOrder(ScriptHeap heap, ScriptValue pairs, string directions) : ISortOrder
    {
        public int Compare(int left, int right) =>
            CompareSortKeys(
                heap,
                heap.Containers.Element(pairs, left),
                heap.Containers.Element(pairs, right),
                directions
            );
    }
}
