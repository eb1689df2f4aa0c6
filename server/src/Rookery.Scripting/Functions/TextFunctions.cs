using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Syntax;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Functions;

/// <summary>String methods of JavaScript.</summary>
internal static class TextFunctions
{
    public static ScriptValue InvokeOnText(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue text,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        heap.Budget.SpendOnBytes(text.Length);
        switch (function)
        {
            case ScriptFunction.ToLowerCase or ScriptFunction.ToUpperCase:
                return InOtherCase(heap, text, function == ScriptFunction.ToUpperCase);
            case ScriptFunction.Trim:
                return TrimBlanks(heap, text, isStart: true, isEnd: true);
            case ScriptFunction.TrimStart:
                return TrimBlanks(heap, text, isStart: true, isEnd: false);
            case ScriptFunction.TrimEnd:
                return TrimBlanks(heap, text, isStart: false, isEnd: true);
            case ScriptFunction.Substr or ScriptFunction.Substring or ScriptFunction.Slice:
                return GetPart(heap, function, text, arguments);
            case ScriptFunction.CharAt:
                int at = arguments.IsEmpty ? 0 : heap.ToInteger(arguments[0], min: -1, int.MaxValue - 1);
                int length = heap.LengthOf(text);
                return at < 0 || at >= length ? heap.NewText(default) : heap.Part(text, at, at + 1);
            case ScriptFunction.StartsWith
            or ScriptFunction.EndsWith
            or ScriptFunction.Includes
            or ScriptFunction.IndexOf
            or ScriptFunction.LastIndexOf:
                return arguments.Length > 1
                    ? heap.SearchFrom(function, text, heap.ToText(arguments[0]), arguments[1])
                    : heap.Search(function, text, heap.ToText(arguments[0]));
            case ScriptFunction.Replace or ScriptFunction.ReplaceAll:
                return heap.Replace(
                    text,
                    heap.ToText(arguments[0]),
                    heap.ToText(arguments[1]),
                    function == ScriptFunction.ReplaceAll
                );
            case ScriptFunction.Split:
                // Without a separator, the text is not split.
                return heap.Limited(
                    arguments[0].Kind == ValueKind.Undefined && arguments.Length > 1
                        ? heap.SplitNowhere(text)
                        : heap.Split(text, heap.ToText(arguments[0])),
                    arguments
                );
            case ScriptFunction.Concat:
                foreach (var argument in arguments)
                {
                    text = heap.JoinTexts(text, argument);
                }

                return text;
            case ScriptFunction.Repeat:
                return Repeat(heap, text, heap.ToNumber(arguments[0]));
            case ScriptFunction.PadStart or ScriptFunction.PadEnd:
                bool hasFill = arguments.Length > 1 && arguments[1].Kind != ValueKind.Undefined;
                var fill = hasFill ? heap.ToText(arguments[1]) : heap.NewText(" "u8);
                int padded = heap.ToInteger(arguments[0], min: 0, int.MaxValue / 2);
                return Pad(heap, text, padded, fill, function == ScriptFunction.PadStart);
            default:
                throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on a text");
        }
    }

    private static ScriptValue InOtherCase(ScriptHeap heap, ScriptValue text, bool isUpper)
    {
        const int BytesPerMappingStep = 4;
        heap.Budget.Spend(text.Length / BytesPerMappingStep);
        int start = heap.Length;
        var room = heap.Reserve(text.Length * FullLetterCase.MaxGrowthFactor);
        var source = heap.Span(text);
        heap.Advance(isUpper ? FullLetterCase.ToUpper(source, room) : FullLetterCase.ToLower(source, room));
        return heap.TextFrom(start);
    }

    private static ScriptValue TrimBlanks(ScriptHeap heap, ScriptValue text, bool isStart, bool isEnd)
    {
        var bytes = heap.Span(text);
        int before = isStart ? bytes.Length - Blanks.TrimStart(bytes).Length : 0;
        bytes = bytes[before..];
        int length = isEnd ? Blanks.TrimEnd(bytes).Length : bytes.Length;
        return ScriptValue.InHeap(ValueKind.Text, text.Start + before, length);
    }

    private static ScriptValue GetPart(
        ScriptHeap heap,
        ScriptFunction function,
        ScriptValue text,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        int length = heap.LengthOf(text);
        int from = arguments.IsEmpty ? 0 : heap.ToInteger(arguments[0], -length, length);
        bool hasEnd = arguments.Length > 1 && arguments[1].Kind != ValueKind.Undefined;
        int to = hasEnd ? heap.ToInteger(arguments[1], -length, length) : length;
        if (function == ScriptFunction.Substring)
        {
            (from, to) = (Math.Max(from, 0), Math.Max(to, 0));
            return heap.Part(text, Math.Min(from, to), Math.Max(from, to));
        }

        from = from < 0 ? length + from : from;
        if (function == ScriptFunction.Substr)
        {
            // The second argument of substr is a length.
            to = hasEnd ? Math.Min(length, from + Math.Max(to, 0)) : length;
        }
        else if (to < 0)
        {
            to = length + to;
        }

        return heap.Part(text, from, Math.Max(from, to));
    }

    /// <summary>
    /// Returns the UTF-16 units of a text in a range. Of a surrogate pair at a bound, only one half is returned.
    /// </summary>
    public static ScriptValue Part(this ScriptHeap heap, ScriptValue text, int from, int to)
    {
        heap.Budget.SpendOnBytes(text.Length);
        var bytes = heap.Span(text);
        int start = Utf16Text.OffsetOf(bytes, from, out bool cutsStart);
        int end = Utf16Text.OffsetOf(bytes, to, out bool cutsEnd);
        if (from >= to)
        {
            return ScriptValue.InHeap(ValueKind.Text, text.Start, length: 0);
        }

        if (!cutsStart && !cutsEnd)
        {
            return ScriptValue.InHeap(ValueKind.Text, text.Start + start, end - start);
        }

        int copyStart = heap.Length;
        if (cutsStart)
        {
            heap.AddHalf(text.Start + start, isSecond: true);
            start += Utf16Text.PairBytes;
        }

        if (end > start)
        {
            heap.AddCopy(text.Start + start, end - start);
        }

        if (cutsEnd)
        {
            heap.AddHalf(text.Start + end, isSecond: false);
        }

        return heap.TextFrom(copyStart);
    }

    public static ScriptValue Split(this ScriptHeap heap, ScriptValue text, ScriptValue separator)
    {
        heap.RequireWholeCharacters(separator);
        var array = heap.Containers.NewArray();
        int at = 0;
        if (separator.Length == 0)
        {
            while (at < text.Length)
            {
                heap.Budget.Spend(1);
                int length = Utf16Text.BytesAt(heap.Span(text)[at]);
                if (length == Utf16Text.PairBytes)
                {
                    heap.Containers.Append(array, HalfOf(heap, text.Start + at, isSecond: false));
                    heap.Containers.Append(array, HalfOf(heap, text.Start + at, isSecond: true));
                }
                else
                {
                    heap.Containers.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, length));
                }

                at += length;
            }

            return array;
        }

        while (heap.IndexOf(text, at, separator) is >= 0 and int partLength)
        {
            heap.Budget.Spend(1);
            heap.Containers.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, partLength));
            at += partLength + separator.Length;
        }

        heap.Containers.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, text.Length - at));
        return array;
    }

    /// <summary>Shortens the result of <c>split</c> to its second argument, if there is one.</summary>
    public static ScriptValue Limited(this ScriptHeap heap, ScriptValue parts, ReadOnlySpan<ScriptValue> arguments)
    {
        if (arguments.Length < 2 || arguments[1].Kind == ValueKind.Undefined)
        {
            return parts;
        }

        uint limit = (uint)heap.ToInt32(arguments[1]);
        int count = heap.Containers.Count(parts);
        if (limit < count)
        {
            heap.Containers.RemoveElements(parts, (int)limit, count - (int)limit);
        }

        return parts;
    }

    private static ScriptValue SplitNowhere(this ScriptHeap heap, ScriptValue text)
    {
        var array = heap.Containers.NewArray();
        heap.Containers.Append(array, text);
        return array;
    }

    private static ScriptValue HalfOf(ScriptHeap heap, int pair, bool isSecond)
    {
        int start = heap.Length;
        heap.AddHalf(pair, isSecond);
        return heap.TextFrom(start);
    }

    private static ScriptValue Repeat(ScriptHeap heap, ScriptValue text, double count)
    {
        count = double.IsNaN(count) ? 0 : Math.Truncate(count);
        if (count < 0 || count * Math.Max(text.Length, 1) > heap.Budget.MemoryLimit)
        {
            throw new ScriptFailure($"a text cannot be repeated {JsonNumber.Format(count)} times");
        }

        int start = heap.Length;
        for (int times = (int)count; times > 0; times--)
        {
            heap.AddCopy(text.Start, text.Length);
        }

        return heap.TextFrom(start);
    }

    private static ScriptValue Pad(ScriptHeap heap, ScriptValue text, int length, ScriptValue fill, bool isStart)
    {
        int missing = length - heap.LengthOf(text);
        int fillLength = heap.LengthOf(fill);
        if (missing <= 0 || fillLength == 0)
        {
            return text;
        }

        var padding = Repeat(heap, fill, missing / fillLength);
        padding = heap.JoinTexts(padding, heap.Part(fill, from: 0, missing % fillLength));
        return isStart ? heap.JoinTexts(padding, text) : heap.JoinTexts(text, padding);
    }
}
