using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Functions;

/// <summary>
/// Functions of JavaScript that programs of the first version do not have: for texts, arrays, objects, numbers and
/// JSON.
/// </summary>
internal static class LaterFunctions
{
    /// <summary>Calls a function. The first argument of a method is its receiver.</summary>
    public static ScriptValue InvokeLater(
        this ScriptContext context,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var heap = context.Heap;
        var first = arguments.IsEmpty ? ScriptValue.Undefined : arguments[0];
        switch (function)
        {
            case ScriptFunction.ToJson:
                return first.Kind == ValueKind.Undefined ? first : heap.NewText(context.Json.Write(first));
            case ScriptFunction.ParseJson:
                return ParseJson(context, heap.ToText(first));
            case ScriptFunction.Assign:
                return Assign(context, first, arguments[1..]);
            case ScriptFunction.FromEntries:
                return FromEntries(heap, heap.ToArray(first));
            case ScriptFunction.HasOwn:
                return first.IsNothing
                    ? ScriptValue.Undefined
                    : ScriptValue.Of(first.IsContainer && heap.HasMember(first, arguments[1]));
            case ScriptFunction.FromCharacterCode:
                return FromCharacterCodes(heap, arguments);
            case ScriptFunction.ArrayFrom:
                return first.IsText
                    ? Characters(heap, heap.Plain(first))
                    : heap.Copy(heap.ToArray(first), from: 0, first.IsNothing ? 0 : heap.Containers.Count(first));
            case ScriptFunction.ArrayOf:
                var array = heap.Containers.NewArray();
                foreach (var argument in arguments)
                {
                    heap.Containers.Append(array, argument);
                }

                return array;
            case ScriptFunction.RaiseToPower:
                const int StepsPerPower = 64;
                heap.Budget.Spend(StepsPerPower);
                return ScriptValue.Of(Power(heap.ToNumber(first), heap.ToNumber(arguments[1])));
            case ScriptFunction.SquareRootOf:
                return ScriptValue.Of(Math.Sqrt(heap.ToNumber(first)));
            case ScriptFunction.IsSafeInteger:
                const double MaxSafe = 9_007_199_254_740_991;
                return ScriptValue.Of(
                    first.IsNumber
                        && heap.NumberOf(first) is var number
                        && number == Math.Truncate(number)
                        && Math.Abs(number) <= MaxSafe
                );
            case ScriptFunction.IsNotNumber:
                return ScriptValue.Of(first.IsNumber && double.IsNaN(heap.NumberOf(first)));
            case ScriptFunction.IsFiniteNumber:
                return ScriptValue.Of(first.IsNumber && double.IsFinite(heap.NumberOf(first)));
            default:
                return InvokeOnSequence(heap, function, first, arguments);
        }
    }

    private static ScriptValue InvokeOnSequence(
        ScriptHeap heap,
        ScriptFunction function,
        ScriptValue first,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        if (first.IsNothing)
        {
            return function == ScriptFunction.Fill
                ? throw new ScriptFailure("the script calls fill on an array that does not exist")
                : ScriptValue.Undefined;
        }

        if (function == ScriptFunction.Fill || (function == ScriptFunction.At && first.Kind == ValueKind.Array))
        {
            if (first.Kind != ValueKind.Array)
            {
                throw new ScriptFailure("the script calls fill on a value that is no array");
            }

            if (function == ScriptFunction.Fill)
            {
                return heap.InvokeOnArray(function, first, arguments[1..]);
            }

            int count = heap.Containers.Count(first);
            double position = IndexFromEnd(heap, arguments[1], count);
            return position >= 0 && position < count
                ? heap.Containers.Element(first, (int)position)
                : ScriptValue.Undefined;
        }

        if (!first.IsText)
        {
            throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on a value that is no text");
        }

        var text = heap.Plain(first);
        int length = heap.LengthOf(text);
        double index = arguments.Length > 1 ? IndexFromEnd(heap, arguments[1], count: 0) : 0;
        index = function == ScriptFunction.At && index < 0 ? index + length : index;
        bool isInside = index >= 0 && index < length;
        if (function == ScriptFunction.At)
        {
            return isInside ? heap.Part(text, (int)index, (int)index + 1) : ScriptValue.Undefined;
        }

        if (!isInside)
        {
            return function == ScriptFunction.CodePointAt ? ScriptValue.Undefined : ScriptValue.Of(double.NaN);
        }

        return ScriptValue.Of(UnitAt(heap, text, (int)index, function == ScriptFunction.CodePointAt));
    }

    // The whole part of an index; a negative one counts from the end if there is a count.
    private static double IndexFromEnd(ScriptHeap heap, ScriptValue value, int count)
    {
        double index = heap.ToNumber(value);
        index = double.IsNaN(index) ? 0 : Math.Truncate(index);
        return index < 0 && count > 0 ? count + index : index;
    }

    private static int UnitAt(ScriptHeap heap, ScriptValue text, int unit, bool isWhole)
    {
        const int FirstOfPairs = 0x10000;
        heap.Budget.SpendOnBytes(text.Length);
        int offset = Utf16Text.OffsetOf(heap.Span(text), unit, out bool isSecond);
        var rest = heap.Span(text)[offset..];
        int character = Utf16Text.ReadCharacter(ref rest);
        if (character < FirstOfPairs || (isWhole && !isSecond))
        {
            return character;
        }

        int beyond = character - FirstOfPairs;
        return isSecond ? 0xDC00 + (beyond & 0x3FF) : 0xD800 + (beyond >> 10);
    }

    private static ScriptValue FromCharacterCodes(ScriptHeap heap, ReadOnlySpan<ScriptValue> codes)
    {
        // All codes are converted first, because the conversion of an array adds a text to the heap.
        int[] units = new int[codes.Length];
        for (int index = 0; index < units.Length; index++)
        {
            units[index] = heap.ToInt32(codes[index]) & 0xFFFF;
        }

        Span<byte> room = stackalloc byte[Utf16Text.PairBytes];
        int start = heap.Length;
        int high = -1;
        foreach (int unit in units)
        {
            bool isPair = high >= 0 && char.IsLowSurrogate((char)unit);
            if (high >= 0 != isPair || (!isPair && char.IsLowSurrogate((char)unit)))
            {
                throw Half();
            }

            if (char.IsHighSurrogate((char)unit))
            {
                high = unit;
                continue;
            }

            int character = isPair ? char.ConvertToUtf32((char)high, (char)unit) : unit;
            high = -1;
            heap.Add(room[..Utf16Text.Write(character, room)]);
        }

        return high < 0 ? heap.TextFrom(start) : throw Half();

        static ScriptFailure Half() => new("the script makes a text of half of a surrogate pair");
    }

    private static ScriptValue Characters(ScriptHeap heap, ScriptValue text)
    {
        var array = heap.Containers.NewArray();
        for (int at = 0; at < text.Length; )
        {
            heap.Budget.Spend(1);
            int length = Utf16Text.BytesAt(heap.Span(text)[at]);
            heap.Containers.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, length));
            at += length;
        }

        return array;
    }

    private static ScriptValue ParseJson(ScriptContext context, ScriptValue text)
    {
        var heap = context.Heap;
        heap.Budget.SpendOnDigits(text.Length); // checked twice, each character
        if (heap.HasLoneSurrogates && Utf16Text.IndexOfLoneSurrogate(heap.Span(text)) >= 0)
        {
            throw new ScriptFailure(
                "JSON.parse is called with a text that was cut inside a surrogate pair: half of a character is no JSON"
            );
        }

        if (!IsJson(heap.Span(text), context.JsonKeys))
        {
            throw new ScriptFailure($"JSON.parse is called with '{heap.Shown(text)}', which is no JSON");
        }

        int start = heap.Length;
        // The room is reserved first, because that may move the text.
        var room = heap.Reserve(text.Length);
        int length = JsonText.Minimise(heap.Span(text), room);
        heap.Advance(length);
        var parsed = heap.Containers.FromJson(start, start + length).With(ValueTrait.None);
        if (context.JsonKeys.HasDuplicates)
        {
            MergeDuplicates(context, parsed);
        }

        return parsed;
    }

    private static bool IsJson(ReadOnlySpan<byte> text, ObjectKeys keys)
    {
        keys.Reset();
        var scanner = new JsonScanner(text, position: 0, keys);
        return scanner.TrySkipValue(JsonLimits.MaxDepth) && scanner.TryEnd();
    }

    /// <summary>
    /// Keeps the last value of each name at the name's first place, as in JavaScript, in an object or array and in all
    /// that it contains: at most <see cref="JsonLimits.MaxDepth"/> levels. Parts without duplicates are not parsed yet.
    /// </summary>
    private static void MergeDuplicates(ScriptContext context, ScriptValue container)
    {
        var containers = context.Heap.Containers;
        bool isArray = container.Kind == ValueKind.Array;
        if (!isArray)
        {
            containers.MergeDuplicates(container, context.JsonKeys);
        }

        int count = containers.Count(container);
        for (int index = 0; index < count; index++)
        {
            context.Heap.Budget.Spend(1);
            var part = isArray ? containers.Element(container, index) : containers.Member(container, index);
            if (part.IsContainer && HasDuplicates(context, part))
            {
                MergeDuplicates(context, part);
            }
        }
    }

    private static bool HasDuplicates(ScriptContext context, ScriptValue container)
    {
        var heap = context.Heap;
        heap.Containers.IsRaw(container, out int start, out int end);
        heap.Budget.SpendOnDigits(end - start);
        return IsJson(heap.Span(start, end - start), context.JsonKeys) && context.JsonKeys.HasDuplicates;
    }

    private static ScriptValue Assign(ScriptContext context, ScriptValue target, ReadOnlySpan<ScriptValue> sources)
    {
        if (target.Kind != ValueKind.Object)
        {
            throw new ScriptFailure("the script calls Object.assign on a value that is no object");
        }

        foreach (var source in sources)
        {
            context.AddAll(target, source);
        }

        return target;
    }

    private static ScriptValue FromEntries(ScriptHeap heap, ScriptValue entries)
    {
        var target = heap.Containers.NewObject();
        for (int index = 0; index < heap.Containers.Count(entries); index++)
        {
            heap.Budget.Spend(1);
            var entry = heap.Containers.Element(entries, index);
            if (entry.Kind != ValueKind.Array)
            {
                throw new ScriptFailure("the script calls Object.fromEntries with an entry that is no array");
            }

            int count = heap.Containers.Count(entry);
            heap.Containers.Set(
                target,
                heap.ToText(count > 0 ? heap.Containers.Element(entry, 0) : ScriptValue.Undefined),
                count > 1 ? heap.Containers.Element(entry, 1) : ScriptValue.Undefined
            );
        }

        return target;
    }

    // Unlike C#, JavaScript has no power of ±1 to an infinite or missing exponent.
    private static double Power(double number, double exponent) =>
        double.IsNaN(exponent) || (Math.Abs(number) == 1 && double.IsInfinity(exponent))
            ? double.NaN
            : PortablePower.Of(number, exponent);
}
