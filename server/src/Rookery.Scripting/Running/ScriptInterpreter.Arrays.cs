using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Running;

/// <content>Functions of arrays.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue InvokeOnArray(ScriptFunction function, ScriptValue array, ReadOnlySpan<ScriptValue> arguments)
    {
        int count = _heap.Count(array);
        switch (function)
        {
            case ScriptFunction.Push:
                foreach (var argument in arguments)
                {
                    _heap.Append(array, argument);
                }

                return ScriptValue.Of(_heap.Count(array));
            case ScriptFunction.Pop or ScriptFunction.Shift:
                return RemoveOne(array, function == ScriptFunction.Pop ? count - 1 : 0, count);
            case ScriptFunction.Unshift:
                Insert(array, 0, arguments);
                return ScriptValue.Of(count + arguments.Length);
            case ScriptFunction.Splice:
                return Splice(array, count, arguments);
            case ScriptFunction.Slice:
                int from = arguments.IsEmpty ? 0 : Position(arguments[0], count);
                int to =
                    arguments.Length < 2 || arguments[1].Kind == ValueKind.Undefined
                        ? count
                        : Position(arguments[1], count);
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
                        _heap.Append(joined, argument);
                    }
                }

                return joined;
            case ScriptFunction.Includes or ScriptFunction.IndexOf or ScriptFunction.LastIndexOf:
                int index = FindIn(array, count, arguments[0], function);
                return function == ScriptFunction.Includes ? ScriptValue.Of(index >= 0) : ScriptValue.Of(index);
            case ScriptFunction.Join:
                var separator =
                    arguments.IsEmpty || arguments[0].Kind == ValueKind.Undefined
                        ? _heap.NewText(","u8)
                        : _heap.ToText(arguments[0]);
                int start = _heap.Length;
                _heap.AddJoined(array, separator, default, 0);
                return _heap.TextFrom(start);
            case ScriptFunction.Reverse:
                _heap.RequireChangeable(array);
                _heap.Spend(1 + count);
                _heap.Elements(array).Reverse();
                return array;
            case ScriptFunction.Flat:
                return Flat(array, count);
            case ScriptFunction.Sort:
                return Sort(array, count);
            default:
                throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on an array");
        }
    }

    /// <summary>An index as slices take it: from the end when it is negative.</summary>
    private int Position(ScriptValue value, int count)
    {
        int index = _heap.ToInteger(value, -count, count);
        return index < 0 ? count + index : index;
    }

    private ScriptValue Copy(ScriptValue array, int from, int count)
    {
        var copy = _heap.NewArray();
        for (int index = from; index < from + count; index++)
        {
            _heap.Spend(1);
            _heap.Append(copy, _heap.Element(array, index));
        }

        return copy;
    }

    private ScriptValue RemoveOne(ScriptValue array, int index, int count)
    {
        _heap.RequireChangeable(array);
        if (count == 0)
        {
            return ScriptValue.Undefined;
        }

        var removed = _heap.Element(array, index);
        _heap.RemoveElements(array, index, 1);
        return removed;
    }

    private void Insert(ScriptValue array, int index, ReadOnlySpan<ScriptValue> values)
    {
        if (values.IsEmpty)
        {
            return;
        }

        _heap.InsertElements(array, index, values.Length);
        foreach (var value in values)
        {
            _heap.SetElement(array, index++, value);
        }
    }

    private ScriptValue Splice(ScriptValue array, int count, ReadOnlySpan<ScriptValue> arguments)
    {
        int from = Position(arguments[0], count);
        int removed = arguments.Length < 2 ? count - from : _heap.ToInteger(arguments[1], 0, count - from);
        var taken = Copy(array, from, removed);
        _heap.RemoveElements(array, from, removed);
        Insert(array, from, arguments.Length > 2 ? arguments[2..] : default);
        return taken;
    }

    /// <summary>The index of a value; <c>includes</c> alone finds NaN.</summary>
    private int FindIn(ScriptValue array, int count, ScriptValue wanted, ScriptFunction function)
    {
        bool isBackwards = function == ScriptFunction.LastIndexOf;
        bool isNaN = function == ScriptFunction.Includes && wanted.IsNumber && double.IsNaN(_heap.NumberOf(wanted));
        wanted =
            wanted.IsText ? _heap.Plain(wanted)
            : wanted.IsNumber ? ScriptValue.Of(_heap.NumberOf(wanted))
            : wanted;
        for (int passed = 0; passed < count; passed++)
        {
            _heap.Spend(1);
            int index = isBackwards ? count - 1 - passed : passed;
            var element = _heap.Element(array, index);
            if (AreEqual(element, wanted) || (isNaN && element.IsNumber && double.IsNaN(_heap.NumberOf(element))))
            {
                return index;
            }
        }

        return -1;
    }

    private ScriptValue Flat(ScriptValue array, int count)
    {
        var flat = _heap.NewArray();
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            var element = _heap.Element(array, index);
            if (element.Kind == ValueKind.Array)
            {
                AppendAll(flat, element);
            }
            else
            {
                _heap.Append(flat, element);
            }
        }

        return flat;
    }
}
