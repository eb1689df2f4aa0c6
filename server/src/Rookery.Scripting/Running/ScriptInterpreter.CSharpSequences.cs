using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Functions;

namespace Rookery.Scripting.Running;

/// <content>Sequences of C#. Nothing is one without elements; an object is one of its members, as dictionaries
/// are.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue ToSequence(ScriptValue value)
    {
        if (value.Kind != ValueKind.Object)
        {
            return value.Kind == ValueKind.Array ? value
                : value.IsNothing ? _heap.NewArray()
                : throw new ScriptFailure($"the script walks over {CSharpStrings.NameOf(value)}");
        }

        var entries = _heap.NewArray();
        var (key, content) = (_heap.NewText("Key"u8), _heap.NewText("Value"u8));
        int count = _heap.Count(value);
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            var entry = _heap.NewObject();
            _heap.Set(entry, key, _heap.Name(value, index));
            _heap.Set(entry, content, _heap.Member(value, index));
            _heap.Append(entries, entry);
        }

        return entries;
    }

    private ScriptValue InvokeOnSequence(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        var first = arguments[0];
        switch (function)
        {
            case ScriptFunction.ToSequence:
                return ToSequence(first);
            case ScriptFunction.PropertyOfDictionary:
                return _context.GetPropertyOfDictionary(first, arguments[1]);
            case ScriptFunction.ElementAt or ScriptFunction.ElementAtOrNothing:
                return _context.ElementAt(first, arguments[1], function == ScriptFunction.ElementAt);
            case ScriptFunction.ContainsKey:
                return ScriptValue.Of(
                    first.Kind == ValueKind.Object
                        && _heap.Find(first, _heap.Span(_heap.TextOf(arguments[1], function))) >= 0
                );
        }

        var sequence = ToSequence(first);
        int count = _heap.Count(sequence);
        _heap.Spend(1);
        switch (function)
        {
            case ScriptFunction.CSharpSkip or ScriptFunction.CSharpTake:
                long asked = _heap.Required(arguments[1], "an index").Cut;
                int kept = (int)Math.Clamp(asked, 0, count);
                return function == ScriptFunction.CSharpSkip
                    ? _heap.Copy(sequence, kept, count - kept)
                    : _heap.Copy(sequence, 0, kept);
            case ScriptFunction.CSharpReverse:
                var reversed = _heap.Copy(sequence, 0, count);
                _heap.Elements(reversed).Reverse();
                return reversed;
            case ScriptFunction.CSharpConcat:
                var joined = _heap.Copy(sequence, 0, count);
                _heap.AppendAll(joined, ToSequence(arguments[1]));
                return joined;
            case ScriptFunction.WithElement:
                joined = _heap.Copy(sequence, 0, count);
                _heap.Append(joined, arguments[1]);
                return joined;
            case ScriptFunction.Union or ScriptFunction.Intersect or ScriptFunction.Except:
                return Combine(function, sequence, ToSequence(arguments[1]));
            case ScriptFunction.FirstOf or ScriptFunction.LastOf or ScriptFunction.OnlyOf:
                return count == 0
                    ? throw new ScriptFailure("the script takes an element of a sequence that has none")
                    : Picked(function, sequence, count);
            case ScriptFunction.FirstOrNothing or ScriptFunction.LastOrNothing or ScriptFunction.OnlyOrNothing:
                return count == 0 ? ScriptValue.Null : Picked(function, sequence, count);
            case ScriptFunction.OrNothing when count == 0:
                var single = _heap.NewArray();
                _heap.Append(single, arguments.Length > 1 ? arguments[1] : ScriptValue.Null);
                return single;
            case ScriptFunction.OrNothing:
                return sequence;
            case ScriptFunction.IsSameSequence:
                var other = ToSequence(arguments[1]);
                return ScriptValue.Of(_heap.HaveSameMembers(sequence, other, 0));
            case ScriptFunction.SortedByKeys:
                return SortByKeys(sequence, count, arguments[1]);
            default:
                throw ScriptProgram.Broken();
        }
    }

    private ScriptValue Aggregate(ScriptFunction function, ScriptValue sequence)
    {
        int count = _heap.Count(sequence);
        _heap.Spend(1 + count);
        switch (function)
        {
            case ScriptFunction.Distinct:
                return AddNew(_heap.NewArray(), sequence);
            case ScriptFunction.Sum or ScriptFunction.Average:
                return Sum(sequence, count, isAverage: function == ScriptFunction.Average);
        }

        var extreme = ScriptValue.Null;
        for (int index = 0; index < count; index++)
        {
            var element = _heap.Element(sequence, index);
            if (
                !element.IsNothing
                && (extreme.IsNothing || IsBefore(element, extreme, isLeast: function == ScriptFunction.Least))
            )
            {
                extreme = element;
            }
        }

        return extreme;
    }

    /// <summary>
    /// Whether a value comes before the one that was the least or greatest so far. Of equal numbers that documents
    /// write differently the one whose bytes are less, so that their order does not count.
    /// </summary>
    private bool IsBefore(ScriptValue value, ScriptValue extreme, bool isLeast)
    {
        int order = _heap.CompareInOrder(value, extreme);
        return order != 0
            ? (order < 0) == isLeast
            : value.Kind == ValueKind.StoredNumber
                && extreme.Kind == ValueKind.StoredNumber
                && _heap.Span(value).SequenceCompareTo(_heap.Span(extreme)) < 0;
    }

    private ScriptValue Picked(ScriptFunction function, ScriptValue sequence, int count)
    {
        if (function is ScriptFunction.OnlyOf or ScriptFunction.OnlyOrNothing && count > 1)
        {
            throw new ScriptFailure($"the script takes the only element of a sequence that has {count}");
        }

        return _heap.Element(
            sequence,
            function is ScriptFunction.LastOf or ScriptFunction.LastOrNothing ? count - 1 : 0
        );
    }

    private int IndexOfSame(ScriptValue sequence, ScriptValue wanted, bool isBackwards = false)
    {
        int count = _heap.Count(sequence);
        for (int passed = 0; passed < count; passed++)
        {
            int index = isBackwards ? count - 1 - passed : passed;
            if (_heap.IsSame(_heap.Element(sequence, index), wanted))
            {
                return index;
            }
        }

        return -1;
    }

    /// <summary>Each value once: of both, of those that are in both, or of those that are only in the first.</summary>
    private ScriptValue Combine(ScriptFunction function, ScriptValue first, ScriptValue second)
    {
        var combined = _heap.NewArray();
        for (int index = 0; index < _heap.Count(first); index++)
        {
            var element = _heap.Element(first, index);
            bool isWanted =
                function == ScriptFunction.Union
                || (IndexOfSame(second, element) >= 0) == (function == ScriptFunction.Intersect);
            if (isWanted && IndexOfSame(combined, element) < 0)
            {
                _heap.Append(combined, element);
            }
        }

        return function == ScriptFunction.Union ? AddNew(combined, second) : combined;
    }

    private ScriptValue AddNew(ScriptValue known, ScriptValue sequence)
    {
        for (int index = 0; index < _heap.Count(sequence); index++)
        {
            var element = _heap.Element(sequence, index);
            if (IndexOfSame(known, element) < 0)
            {
                _heap.Append(known, element);
            }
        }

        return known;
    }

    /// <summary>
    /// Sorts pairs of an element and its keys, stable; the directions are a text with a letter for each key, <c>a</c>
    /// or <c>d</c>.
    /// </summary>
    private ScriptValue SortByKeys(ScriptValue pairs, int count, ScriptValue directions)
    {
        _heap.Spend(1 + (2 * count));
        string letters = _heap.NetText(directions);
        long held = (long)count * 2 * sizeof(int);
        _heap.Hold(held);
        var memory = PooledMemory.Rent((int)held);
        try
        {
            var order = MemoryMarshal.Cast<byte, int>(memory.Span)[..count];
            var room = MemoryMarshal.Cast<byte, int>(memory.Span)[count..(2 * count)];
            for (int index = 0; index < count; index++)
            {
                order[index] = index;
            }

            _heap.MergeSort(new KeyOrder(this, pairs, letters), order, room);
            var sorted = _heap.NewArray();
            foreach (int index in order)
            {
                _heap.Append(sorted, _heap.Element(_heap.Element(pairs, index), 0));
            }

            return sorted;
        }
        finally
        {
            memory.Return();
            _heap.GiveBack(held);
        }
    }

    private int CompareSortKeys(ScriptValue left, ScriptValue right, string directions)
    {
        for (int key = 0; key < directions.Length; key++)
        {
            _heap.Spend(1);
            var (first, second) = (_heap.Element(left, key + 1), _heap.Element(right, key + 1));
            int order =
                first.IsNothing || second.IsNothing
                    ? second.IsNothing.CompareTo(first.IsNothing)
                    : _heap.CompareInOrder(first, second);
            if (order != 0)
            {
                return directions[key] == 'd' ? -order : order;
            }
        }

        return 0;
    }

    private readonly struct KeyOrder(ScriptInterpreter owner, ScriptValue pairs, string directions) : ISortOrder
    {
        public int Compare(int left, int right) =>
            owner.CompareSortKeys(owner._heap.Element(pairs, left), owner._heap.Element(pairs, right), directions);
    }
}
