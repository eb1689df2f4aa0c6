using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.CSharp;

/// <summary>
/// The sequence methods of C#. Null is an empty sequence. An object is the sequence of its members, like a dictionary.
/// </summary>
internal static class CSharpSequences
{
    public static ScriptValue ToSequence(this ScriptHeap heap, ScriptValue value)
    {
        if (value.Kind != ValueKind.Object)
        {
            if (value.Kind == ValueKind.Array)
            {
                return value;
            }

            if (value.IsNothing)
            {
                return heap.Containers.NewArray();
            }

            throw new ScriptFailure($"the script iterates over {CSharpStrings.NameOf(value)}");
        }

        var entries = heap.Containers.NewArray();
        var (key, content) = (heap.NewText("Key"u8), heap.NewText("Value"u8));
        int count = heap.Containers.Count(value);
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            var entry = heap.Containers.NewObject();
            heap.Containers.Set(entry, key, heap.Containers.Name(value, index));
            heap.Containers.Set(entry, content, heap.Containers.Member(value, index));
            heap.Containers.Append(entries, entry);
        }

        return entries;
    }

    public static ScriptValue InvokeOnSequence(
        this ScriptContext context,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var heap = context.Heap;
        var first = arguments[0];
        switch (function)
        {
            case ScriptFunction.ToSequence:
                return heap.ToSequence(first);
            case ScriptFunction.PropertyOfDictionary:
                return context.GetPropertyOfDictionary(first, arguments[1]);
            case ScriptFunction.ElementAt or ScriptFunction.ElementAtOrNothing:
                return context.ElementAt(
                    first,
                    arguments[1],
                    function == ScriptFunction.ElementAt,
                    arguments.Length > 2 ? arguments[2] : ScriptValue.Null
                );
            case ScriptFunction.ContainsKey:
                return ScriptValue.Of(
                    first.Kind == ValueKind.Object
                        && heap.Containers.Find(first, heap.Span(heap.TextOf(arguments[1], function))) >= 0
                );
        }

        var sequence = heap.ToSequence(first);
        int count = heap.Containers.Count(sequence);
        heap.Budget.Spend(1);
        switch (function)
        {
            case ScriptFunction.CSharpSkip or ScriptFunction.CSharpTake:
                long requestedLength = heap.Required(arguments[1], "an index").Truncated;
                int prefixLength = (int)Math.Clamp(requestedLength, 0, count);
                return function == ScriptFunction.CSharpSkip
                    ? heap.Copy(sequence, prefixLength, count - prefixLength)
                    : heap.Copy(sequence, from: 0, prefixLength);
            case ScriptFunction.CSharpReverse:
                var reversed = heap.Copy(sequence, from: 0, count);
                heap.Containers.Elements(reversed).Reverse();
                return reversed;
            case ScriptFunction.CSharpConcat:
                var joined = heap.Copy(sequence, from: 0, count);
                heap.AppendAll(joined, heap.ToSequence(arguments[1]));
                return joined;
            case ScriptFunction.WithElement:
                joined = heap.Copy(sequence, from: 0, count);
                heap.Containers.Append(joined, arguments[1]);
                return joined;
            case ScriptFunction.Union or ScriptFunction.Intersect or ScriptFunction.Except:
                return Combine(heap, function, sequence, heap.ToSequence(arguments[1]));
            case ScriptFunction.FirstOf or ScriptFunction.LastOf or ScriptFunction.OnlyOf:
                return count == 0
                    ? throw new ScriptFailure("the script takes an element of a sequence that has none")
                    : Pick(heap, function, sequence, count);
            case ScriptFunction.FirstOrNothing or ScriptFunction.LastOrNothing or ScriptFunction.OnlyOrNothing:
                return count > 0 ? Pick(heap, function, sequence, count)
                    : arguments.Length > 1 ? arguments[1]
                    : ScriptValue.Null;
            case ScriptFunction.OrNothing when count == 0:
                var single = heap.Containers.NewArray();
                heap.Containers.Append(single, arguments.Length > 1 ? arguments[1] : ScriptValue.Null);
                return single;
            case ScriptFunction.OrNothing:
                return sequence;
            case ScriptFunction.IsSameSequence:
                var other = heap.ToSequence(arguments[1]);
                return ScriptValue.Of(heap.HaveSameMembers(sequence, other, level: 0));
            case ScriptFunction.SortedByKeys:
                return heap.SortByKeys(sequence, count, arguments[1]);
            default:
                throw ScriptProgram.Broken();
        }
    }

    private static ScriptValue Pick(ScriptHeap heap, ScriptFunction function, ScriptValue sequence, int count)
    {
        if (function is ScriptFunction.OnlyOf or ScriptFunction.OnlyOrNothing && count > 1)
        {
            throw new ScriptFailure($"the script takes the only element of a sequence that has {count}");
        }

        return heap.Containers.Element(
            sequence,
            function is ScriptFunction.LastOf or ScriptFunction.LastOrNothing ? count - 1 : 0
        );
    }

    /// <summary>
    /// Returns the index of the first element that equals <paramref name="wanted"/> as C# compares them, or with
    /// <paramref name="isBackwards"/> of the last one; -1 if there is none.
    /// </summary>
    public static int IndexOfSame(
        this ScriptHeap heap,
        ScriptValue sequence,
        ScriptValue wanted,
        bool isBackwards = false
    )
    {
        int count = heap.Containers.Count(sequence);
        for (int passed = 0; passed < count; passed++)
        {
            int index = isBackwards ? count - 1 - passed : passed;
            if (heap.IsSame(heap.Containers.Element(sequence, index), wanted))
            {
                return index;
            }
        }

        return -1;
    }

    /// <summary>
    /// Returns the union, intersection or difference of two sequences. The result contains each value once.
    /// </summary>
    private static ScriptValue Combine(ScriptHeap heap, ScriptFunction function, ScriptValue first, ScriptValue second)
    {
        var combined = heap.Containers.NewArray();
        for (int index = 0; index < heap.Containers.Count(first); index++)
        {
            var element = heap.Containers.Element(first, index);
            bool isWanted =
                function == ScriptFunction.Union
                || (heap.IndexOfSame(second, element) >= 0) == (function == ScriptFunction.Intersect);
            if (isWanted && heap.IndexOfSame(combined, element) < 0)
            {
                heap.Containers.Append(combined, element);
            }
        }

        return function == ScriptFunction.Union ? heap.AddNew(combined, second) : combined;
    }

    /// <summary>
    /// Appends to the array <paramref name="values"/> each element of <paramref name="sequence"/> that the array does
    /// not contain yet, and returns the array.
    /// </summary>
    public static ScriptValue AddNew(this ScriptHeap heap, ScriptValue values, ScriptValue sequence)
    {
        for (int index = 0; index < heap.Containers.Count(sequence); index++)
        {
            var element = heap.Containers.Element(sequence, index);
            if (heap.IndexOfSame(values, element) < 0)
            {
                heap.Containers.Append(values, element);
            }
        }

        return values;
    }
}
