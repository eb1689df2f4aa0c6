using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Syntax;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Functions of texts.</content>
public sealed partial class ScriptInterpreter
{
    private ScriptValue InvokeOnText(ScriptFunction function, ScriptValue text, ReadOnlySpan<ScriptValue> arguments)
    {
        _heap.SpendOnBytes(text.Length);
        switch (function)
        {
            case ScriptFunction.ToLowerCase or ScriptFunction.ToUpperCase:
                return InOtherCase(text, function == ScriptFunction.ToUpperCase);
            case ScriptFunction.Trim:
                return Trimmed(text, isStart: true, isEnd: true);
            case ScriptFunction.TrimStart:
                return Trimmed(text, isStart: true, isEnd: false);
            case ScriptFunction.TrimEnd:
                return Trimmed(text, isStart: false, isEnd: true);
            case ScriptFunction.Substr or ScriptFunction.Substring or ScriptFunction.Slice:
                return Cut(function, text, arguments);
            case ScriptFunction.CharAt:
                int at = arguments.IsEmpty ? 0 : _heap.ToInteger(arguments[0], -1, int.MaxValue - 1);
                int length = LengthOf(text);
                return at < 0 || at >= length ? _heap.NewText(default) : Part(text, at, at + 1);
            case ScriptFunction.StartsWith
            or ScriptFunction.EndsWith
            or ScriptFunction.Includes
            or ScriptFunction.IndexOf
            or ScriptFunction.LastIndexOf:
                return _heap.Search(function, text, _heap.ToText(arguments[0]));
            case ScriptFunction.Replace or ScriptFunction.ReplaceAll:
                return _heap.Replace(
                    text,
                    _heap.ToText(arguments[0]),
                    _heap.ToText(arguments[1]),
                    function == ScriptFunction.ReplaceAll
                );
            case ScriptFunction.Split:
                return Split(text, _heap.ToText(arguments[0]));
            case ScriptFunction.Concat:
                foreach (var argument in arguments)
                {
                    text = JoinTexts(text, argument);
                }

                return text;
            case ScriptFunction.Repeat:
                return Repeat(text, _heap.ToNumber(arguments[0]));
            case ScriptFunction.PadStart or ScriptFunction.PadEnd:
                bool hasFill = arguments.Length > 1 && arguments[1].Kind != ValueKind.Undefined;
                var fill = hasFill ? _heap.ToText(arguments[1]) : _heap.NewText(" "u8);
                int padded = _heap.ToInteger(arguments[0], 0, int.MaxValue / 2);
                return Pad(text, padded, fill, function == ScriptFunction.PadStart);
            default:
                throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} on a text");
        }
    }

    private ScriptValue InOtherCase(ScriptValue text, bool isUpper)
    {
        const int BytesPerMappingStep = 4;
        _heap.Spend(text.Length / BytesPerMappingStep);
        int start = _heap.Length;
        var room = _heap.Reserve(text.Length * FullLetterCase.MostGrowth);
        var source = _heap.Span(text);
        _heap.Advance(isUpper ? FullLetterCase.ToUpper(source, room) : FullLetterCase.ToLower(source, room));
        return _heap.TextFrom(start);
    }

    private ScriptValue Trimmed(ScriptValue text, bool isStart, bool isEnd)
    {
        var bytes = _heap.Span(text);
        int before = isStart ? bytes.Length - Blanks.TrimStart(bytes).Length : 0;
        bytes = bytes[before..];
        int length = isEnd ? Blanks.TrimEnd(bytes).Length : bytes.Length;
        return ScriptValue.InHeap(ValueKind.Text, text.Start + before, length);
    }

    private ScriptValue Cut(ScriptFunction function, ScriptValue text, ReadOnlySpan<ScriptValue> arguments)
    {
        int length = LengthOf(text);
        int from = arguments.IsEmpty ? 0 : _heap.ToInteger(arguments[0], -length, length);
        bool hasEnd = arguments.Length > 1 && arguments[1].Kind != ValueKind.Undefined;
        int to = hasEnd ? _heap.ToInteger(arguments[1], -length, length) : length;
        if (function == ScriptFunction.Substring)
        {
            (from, to) = (Math.Max(from, 0), Math.Max(to, 0));
            return Part(text, Math.Min(from, to), Math.Max(from, to));
        }

        from = from < 0 ? length + from : from;
        to =
            function == ScriptFunction.Substr ? (hasEnd ? Math.Min(length, from + Math.Max(to, 0)) : length)
            : to < 0 ? length + to
            : to;
        return Part(text, from, Math.Max(from, to));
    }

    /// <summary>Units of a text from one to another; of a pair that is cut apart, one half.</summary>
    private ScriptValue Part(ScriptValue text, int from, int to)
    {
        _heap.SpendOnBytes(text.Length);
        var bytes = _heap.Span(text);
        int start = Utf16Text.OffsetOf(bytes, from, out bool cutsStart);
        int end = Utf16Text.OffsetOf(bytes, to, out bool cutsEnd);
        if (from >= to)
        {
            return ScriptValue.InHeap(ValueKind.Text, text.Start, 0);
        }

        if (!cutsStart && !cutsEnd)
        {
            return ScriptValue.InHeap(ValueKind.Text, text.Start + start, end - start);
        }

        int made = _heap.Length;
        if (cutsStart)
        {
            _heap.AddHalf(text.Start + start, isSecond: true);
            start += Utf16Text.PairBytes;
        }

        if (end > start)
        {
            _heap.AddCopy(text.Start + start, end - start);
        }

        if (cutsEnd)
        {
            _heap.AddHalf(text.Start + end, isSecond: false);
        }

        return _heap.TextFrom(made);
    }

    private ScriptValue Split(ScriptValue text, ScriptValue separator)
    {
        _heap.RequireWholeCharacters(separator);
        var array = _heap.NewArray();
        int at = 0;
        if (separator.Length == 0)
        {
            while (at < text.Length)
            {
                _heap.Spend(1);
                int length = Utf16Text.BytesAt(_heap.Span(text)[at]);
                if (length == Utf16Text.PairBytes)
                {
                    _heap.Append(array, HalfOf(text.Start + at, isSecond: false));
                    _heap.Append(array, HalfOf(text.Start + at, isSecond: true));
                }
                else
                {
                    _heap.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, length));
                }

                at += length;
            }

            return array;
        }

        while (_heap.IndexOf(text, at, separator) is >= 0 and int found)
        {
            _heap.Spend(1);
            _heap.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, found));
            at += found + separator.Length;
        }

        _heap.Append(array, ScriptValue.InHeap(ValueKind.Text, text.Start + at, text.Length - at));
        return array;
    }

    private ScriptValue HalfOf(int pair, bool isSecond)
    {
        int start = _heap.Length;
        _heap.AddHalf(pair, isSecond);
        return _heap.TextFrom(start);
    }

    private ScriptValue Repeat(ScriptValue text, double count)
    {
        if (!(count >= 0) || count * Math.Max(text.Length, 1) > _heap.MemoryLimit)
        {
            throw new ScriptFailure($"a text cannot be repeated {JsonNumber.Format(count)} times");
        }

        int start = _heap.Length;
        for (int times = (int)count; times > 0; times--)
        {
            _heap.AddCopy(text.Start, text.Length);
        }

        return _heap.TextFrom(start);
    }

    private ScriptValue Pad(ScriptValue text, int length, ScriptValue fill, bool isStart)
    {
        int missing = length - LengthOf(text);
        int unit = LengthOf(fill);
        if (missing <= 0 || unit == 0)
        {
            return text;
        }

        var padding = Repeat(fill, missing / unit);
        padding = JoinTexts(padding, Part(fill, 0, missing % unit));
        return isStart ? JoinTexts(padding, text) : JoinTexts(text, padding);
    }
}
