using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>Array methods of JavaScript.</summary>
internal static class ArrayFunctions
{
    /// <summary>Calls an array method.</summary>
    public static ScriptValue InvokeOnArray(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue array,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        int count = heap.Containers.Count(array);
        switch (function)
        {
            case ScriptFunction.Push:
                foreach (var argument in arguments)
                {
                    heap.Containers.Append(array, argument);
                }

                return ScriptValue.Of(heap.Containers.Count(array));
            case ScriptFunction.Pop or ScriptFunction.Shift:
                return RemoveOne(heap, array, function == ScriptFunction.Pop ? count - 1 : 0, count);
            case ScriptFunction.Unshift:
                Insert(heap, array, 0, arguments);
                return ScriptValue.Of(count + arguments.Length);
            case ScriptFunction.Splice:
                return Splice(heap, array, count, arguments);
            case ScriptFunction.Slice:
                int from = arguments.IsEmpty ? 0 : Position(heap, arguments[0], count);
                int to =
                    arguments.Length < 2 || arguments[1].Kind == ValueKind.Undefined
                        ? count
                        : Position(heap, arguments[1], count);
                return heap.Copy(array, from, Math.Max(to - from, 0));
            case ScriptFunction.Concat:
                var joined = heap.Copy(array, from: 0, count);
                foreach (var argument in arguments)
                {
                    if (argument.Kind == ValueKind.Array)
                    {
                        heap.AppendAll(joined, argument);
                    }
                    else
                    {
                        heap.Containers.Append(joined, argument);
                    }
                }

                return joined;
            case ScriptFunction.Includes or ScriptFunction.IndexOf or ScriptFunction.LastIndexOf:
                int first = arguments.Length > 1 ? Position(heap, arguments[1], count) : 0;
                int index = FindIn(heap, array, first, count, arguments[0], function);
                return function == ScriptFunction.Includes ? ScriptValue.Of(index >= 0) : ScriptValue.Of(index);
            case ScriptFunction.Join:
                var separator =
                    arguments.IsEmpty || arguments[0].Kind == ValueKind.Undefined
                        ? heap.NewText(","u8)
                        : heap.ToText(arguments[0]);
                int start = heap.Length;
                heap.AddJoined(array, separator, literal: default, level: 0);
                return heap.TextFrom(start);
            case ScriptFunction.Reverse:
                heap.Containers.RequireChangeable(array);
                heap.Budget.Spend(1 + count);
                heap.Containers.Elements(array).Reverse();
                return array;
            case ScriptFunction.Flat:
                return Flat(heap, array, count);
            case ScriptFunction.Sort:
                return heap.Sort(array, count);
            case ScriptFunction.Fill:
                int firstFilled = arguments.Length > 1 ? Position(heap, arguments[1], count) : 0;
                bool hasEnd = arguments.Length > 2 && arguments[2].Kind != ValueKind.Undefined;
                int endFilled = hasEnd ? Position(heap, arguments[2], count) : count;
                for (int at = firstFilled; at < endFilled; at++)
                {
                    heap.Budget.Spend(1);
                    heap.Containers.SetElement(array, at, arguments[0]);
                }

                return array;
            default:
                throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on an array");
        }
    }

    /// <summary>Returns an index, limited to the bounds of the array. A negative index counts from the end.</summary>
    internal static int Position(ScriptHeap heap, ScriptValue value, int count)
    {
        int index = heap.ToInteger(value, -count, count);
        return index < 0 ? count + index : index;
    }

    /// <summary>Returns a new array of consecutive elements of an array.</summary>
    public static ScriptValue Copy(this ScriptHeap heap, ScriptValue array, int from, int count)
    {
        var copy = heap.Containers.NewArray();
        for (int index = from; index < from + count; index++)
        {
            heap.Budget.Spend(1);
            heap.Containers.Append(copy, heap.Containers.Element(array, index));
        }

        return copy;
    }

    private static ScriptValue RemoveOne(ScriptHeap heap, ScriptValue array, int index, int count)
    {
        heap.Containers.RequireChangeable(array);
        if (count == 0)
        {
            return ScriptValue.Undefined;
        }

        var removed = heap.Containers.Element(array, index);
        heap.Containers.RemoveElements(array, index, count: 1);
        return removed;
    }

    private static void Insert(ScriptHeap heap, ScriptValue array, int index, ReadOnlySpan<ScriptValue> values)
    {
        if (values.IsEmpty)
        {
            return;
        }

        heap.Containers.InsertElements(array, index, values.Length);
        foreach (var value in values)
        {
            heap.Containers.SetElement(array, index++, value);
        }
    }

    private static ScriptValue Splice(
        ScriptHeap heap,
        ScriptValue array,
        int count,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        int from = Position(heap, arguments[0], count);
        int removed = arguments.Length < 2 ? count - from : heap.ToInteger(arguments[1], min: 0, count - from);
        var removedElements = heap.Copy(array, from, removed);
        heap.Containers.RemoveElements(array, from, removed);
        Insert(heap, array, from, arguments.Length > 2 ? arguments[2..] : default);
        return removedElements;
    }

    /// <summary>Returns the index of a value, or -1. Only <c>includes</c> finds NaN.</summary>
    private static int FindIn(
        ScriptHeap heap,
        ScriptValue array,
        int first,
        int count,
        ScriptValue wanted,
        ScriptFunction function
    )
    {
        bool isBackwards = function == ScriptFunction.LastIndexOf;
        bool isNaN = function == ScriptFunction.Includes && wanted.IsNumber && double.IsNaN(heap.NumberOf(wanted));
        wanted =
            wanted.IsText ? heap.Plain(wanted)
            : wanted.IsNumber ? ScriptValue.Of(heap.NumberOf(wanted))
            : wanted;
        for (int passed = first; passed < count; passed++)
        {
            heap.Budget.Spend(1);
            int index = isBackwards ? count - 1 - passed : passed;
            var element = heap.Containers.Element(array, index);
            if (heap.AreEqual(element, wanted) || (isNaN && element.IsNumber && double.IsNaN(heap.NumberOf(element))))
            {
                return index;
            }
        }

        return -1;
    }

    private static ScriptValue Flat(ScriptHeap heap, ScriptValue array, int count)
    {
        var flat = heap.Containers.NewArray();
        for (int index = 0; index < count; index++)
        {
            heap.Budget.Spend(1);
            var element = heap.Containers.Element(array, index);
            if (element.Kind == ValueKind.Array)
            {
                heap.AppendAll(flat, element);
            }
            else
            {
                heap.Containers.Append(flat, element);
            }
        }

        return flat;
    }
}
