namespace Rookery.Documents.Scripting;

/// <content>Functions of arrays.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue InvokeOnArray(ScriptFunction function, ScriptValue array, ReadOnlySpan<ScriptValue> arguments)
    {
        int count = heap.Count(array);
        switch (function)
        {
            case ScriptFunction.Push:
                foreach (var argument in arguments)
                {
                    heap.Append(array, argument);
                }

                return ScriptValue.Of(heap.Count(array));
            case ScriptFunction.Pop or ScriptFunction.Shift:
                return RemoveOne(array, function == ScriptFunction.Pop ? count - 1 : 0, count);
            case ScriptFunction.Unshift:
                Insert(array, 0, arguments);
                return ScriptValue.Of(count + arguments.Length);
            case ScriptFunction.Splice:
                return Splice(array, count, arguments);
            case ScriptFunction.Slice:
                int from = arguments.IsEmpty ? 0 : Position(arguments[0], count);
                int to = arguments.Length < 2 || arguments[1].Kind == ValueKind.Undefined ? count : Position(arguments[1], count);
                return Copy(array, from, Math.Max(to - from, 0));
            case ScriptFunction.Concat:
                var joined = Copy(array, 0, count);
                foreach (var argument in arguments)
                {
                    if (argument.Kind == ValueKind.Array)
                    {
                        AppendAll(joined, argument);
                    }
                    else
                    {
                        heap.Append(joined, argument);
                    }
                }

                return joined;
            case ScriptFunction.Includes or ScriptFunction.IndexOf or ScriptFunction.LastIndexOf:
                int index = Find(array, count, arguments[0], function);
                return function == ScriptFunction.Includes ? ScriptValue.Of(index >= 0) : ScriptValue.Of(index);
            case ScriptFunction.Join:
                var separator = arguments.IsEmpty || arguments[0].Kind == ValueKind.Undefined ? heap.NewText(","u8) : ToText(arguments[0]);
                int start = heap.Length;
                AddJoined(array, separator, default, 0);
                return heap.TextFrom(start);
            case ScriptFunction.Reverse:
                heap.RequireChangeable(array);
                heap.Spend(1 + count);
                heap.Elements(array).Reverse();
                return array;
            case ScriptFunction.Flat:
                return Flat(array, count);
            case ScriptFunction.Sort:
                return Sort(array, count);
            default:
                throw new ScriptFailure($"the script calls {function} on an array");
        }
    }

    /// <summary>An index as slices take it: from the end when it is negative.</summary>
    private int Position(ScriptValue value, int count)
    {
        int index = ToInteger(value, -count, count);
        return index < 0 ? count + index : index;
    }

    private ScriptValue Copy(ScriptValue array, int from, int count)
    {
        var copy = heap.NewArray();
        for (int index = from; index < from + count; index++)
        {
            heap.Spend(1);
            heap.Append(copy, heap.Element(array, index));
        }

        return copy;
    }

    private ScriptValue RemoveOne(ScriptValue array, int index, int count)
    {
        heap.RequireChangeable(array);
        if (count == 0)
        {
            return ScriptValue.Undefined;
        }

        var removed = heap.Element(array, index);
        heap.RemoveElements(array, index, 1);
        return removed;
    }

    private void Insert(ScriptValue array, int index, ReadOnlySpan<ScriptValue> values)
    {
        if (values.IsEmpty)
        {
            return;
        }

        heap.InsertElements(array, index, values.Length);
        foreach (var value in values)
        {
            heap.SetElement(array, index++, value);
        }
    }

    private ScriptValue Splice(ScriptValue array, int count, ReadOnlySpan<ScriptValue> arguments)
    {
        int from = Position(arguments[0], count);
        int removed = arguments.Length < 2 ? count - from : ToInteger(arguments[1], 0, count - from);
        var taken = Copy(array, from, removed);
        heap.RemoveElements(array, from, removed);
        Insert(array, from, arguments.Length > 2 ? arguments[2..] : default);
        return taken;
    }

    /// <summary>The index of a value; <c>includes</c> alone finds NaN.</summary>
    private int Find(ScriptValue array, int count, ScriptValue wanted, ScriptFunction function)
    {
        bool isBackwards = function == ScriptFunction.LastIndexOf;
        bool isNaN = function == ScriptFunction.Includes && wanted.IsNumber && double.IsNaN(heap.NumberOf(wanted));
        wanted = wanted.IsText ? heap.Plain(wanted) : wanted.IsNumber ? ScriptValue.Of(heap.NumberOf(wanted)) : wanted;
        for (int passed = 0; passed < count; passed++)
        {
            heap.Spend(1);
            int index = isBackwards ? count - 1 - passed : passed;
            var element = heap.Element(array, index);
            if (AreEqual(element, wanted) || (isNaN && element.IsNumber && double.IsNaN(heap.NumberOf(element))))
            {
                return index;
            }
        }

        return -1;
    }

    private ScriptValue Flat(ScriptValue array, int count)
    {
        var flat = heap.NewArray();
        for (int index = 0; index < count; index++)
        {
            heap.Spend(1);
            var element = heap.Element(array, index);
            if (element.Kind == ValueKind.Array)
            {
                AppendAll(flat, element);
            }
            else
            {
                heap.Append(flat, element);
            }
        }

        return flat;
    }
}
