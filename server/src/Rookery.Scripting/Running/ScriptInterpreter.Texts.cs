using Rookery.Json;
using Rookery.Scripting.Compiling;
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
                int at = arguments.IsEmpty ? 0 : ToInteger(arguments[0], -1, int.MaxValue - 1);
                int length = LengthOf(text);
                return at < 0 || at >= length ? _heap.NewText(default) : Part(text, at, at + 1);
            case ScriptFunction.StartsWith
            or ScriptFunction.EndsWith
            or ScriptFunction.Includes
            or ScriptFunction.IndexOf
            or ScriptFunction.LastIndexOf:
                return Search(function, text, ToText(arguments[0]));
            case ScriptFunction.Replace or ScriptFunction.ReplaceAll:
                return Replace(text, ToText(arguments[0]), ToText(arguments[1]), function == ScriptFunction.ReplaceAll);
            case ScriptFunction.Split:
                return Split(text, ToText(arguments[0]));
            case ScriptFunction.Concat:
                foreach (var argument in arguments)
                {
                    text = JoinTexts(text, argument);
                }

                return text;
            case ScriptFunction.Repeat:
                return Repeat(text, ToNumber(arguments[0]));
            case ScriptFunction.PadStart or ScriptFunction.PadEnd:
                bool hasFill = arguments.Length > 1 && arguments[1].Kind != ValueKind.Undefined;
                var fill = hasFill ? ToText(arguments[1]) : _heap.NewText(" "u8);
                int padded = ToInteger(arguments[0], 0, int.MaxValue / 2);
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
        int from = arguments.IsEmpty ? 0 : ToInteger(arguments[0], -length, length);
        bool hasEnd = arguments.Length > 1 && arguments[1].Kind != ValueKind.Undefined;
        int to = hasEnd ? ToInteger(arguments[1], -length, length) : length;
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

    private ScriptValue Search(ScriptFunction function, ScriptValue text, ScriptValue wanted)
    {
        RequireWholeCharacters(wanted);
        var bytes = _heap.Span(text);
        var part = _heap.Span(wanted);
        switch (function)
        {
            case ScriptFunction.StartsWith:
                return ScriptValue.Of(bytes.StartsWith(part));
            case ScriptFunction.EndsWith:
                return ScriptValue.Of(bytes.EndsWith(part));
        }

        int offset;
        if (function == ScriptFunction.LastIndexOf)
        {
            SpendOnSearch(text.Length, wanted.Length);
            offset = bytes.LastIndexOf(part);
        }
        else
        {
            offset = IndexOf(text, 0, wanted);
        }

        return function == ScriptFunction.Includes
            ? ScriptValue.Of(offset >= 0)
            : ScriptValue.Of(offset < 0 ? -1 : Utf16Text.Length(bytes[..offset]));
    }

    /// <summary>Half of a pair is not found by its bytes inside the other text's pairs.</summary>
    private void RequireWholeCharacters(ScriptValue wanted)
    {
        if (_heap.HasHalves && Utf16Text.IsCutAtAnEnd(_heap.Span(wanted)))
        {
            throw new ScriptFailure("the script searches for a text that was cut inside a surrogate pair");
        }
    }

    /// <summary>Where a text stands in another one, counted from a place; -1 where it does not.</summary>
    private int IndexOf(ScriptValue text, int from, ScriptValue wanted)
    {
        const int LongBytes = 256;
        var rest = _heap.Span(text)[from..];
        if (wanted.Length > LongBytes)
        {
            SpendOnSearch(rest.Length, wanted.Length);
            return rest.IndexOf(_heap.Span(wanted));
        }

        int found = rest.IndexOf(_heap.Span(wanted));
        SpendOnSearch(found < 0 ? rest.Length : found, wanted.Length);
        return found;
    }

    /// <summary>A search compares the whole wanted text at each place in the worst case.</summary>
    private void SpendOnSearch(int length, int wanted)
    {
        _heap.Spend((int)Math.Min(1 + ((long)length / BytesPerStep * (1 + (wanted / BytesPerStep))), int.MaxValue));
    }

    private ScriptValue Replace(ScriptValue text, ScriptValue wanted, ScriptValue replacement, bool isAll)
    {
        RequireWholeCharacters(wanted);
        int start = _heap.Length;
        int at = 0;
        while (true)
        {
            int found = at > text.Length ? -1 : IndexOf(text, at, wanted);
            if (found < 0)
            {
                break;
            }

            _heap.AddCopy(text.Start + at, found);
            AddReplacement(text, wanted, replacement, at + found);
            at += found + wanted.Length;
            if (wanted.Length == 0)
            {
                int length = at < text.Length ? Utf16Text.BytesAt(_heap.Span(text)[at]) : 0;
                AddUnits(text, wanted, isAll ? replacement : default, at, length);
                at += Math.Max(length, 1);
            }

            if (!isAll)
            {
                break;
            }
        }

        if (at < text.Length)
        {
            _heap.AddCopy(text.Start + at, text.Length - at);
        }

        return _heap.TextFrom(start);
    }

    /// <summary>Adds the character at a place, with a replacement between the halves of a pair.</summary>
    private void AddUnits(ScriptValue text, ScriptValue wanted, ScriptValue replacement, int at, int length)
    {
        if (length < Utf16Text.PairBytes || !replacement.IsText || replacement.Length == 0)
        {
            _heap.AddCopy(text.Start + Math.Min(at, text.Length), length);
            return;
        }

        RefuseAroundHalf(replacement);
        _heap.AddHalf(text.Start + at, isSecond: false);
        AddReplacement(text, wanted, replacement, at);
        _heap.AddHalf(text.Start + at, isSecond: true);
    }

    /// <summary>What stands before and behind half of a pair is no part of the text's bytes.</summary>
    private void RefuseAroundHalf(ScriptValue replacement)
    {
        var bytes = _heap.Span(replacement);
        if (bytes.IndexOf("$`"u8) >= 0 || bytes.IndexOf("$'"u8) >= 0)
        {
            throw new ScriptFailure("the script replaces inside a surrogate pair by what stands before or behind it");
        }
    }

    /// <summary>
    /// Adds the replacement, in which <c>$$</c> is a dollar, <c>$&amp;</c> what was found, and <c>$`</c> and <c>$'</c>
    /// what stands before and behind it.
    /// </summary>
    private void AddReplacement(ScriptValue text, ScriptValue wanted, ScriptValue replacement, int found)
    {
        for (int at = 0; at < replacement.Length; )
        {
            int dollar = _heap.Span(replacement)[at..].IndexOf((byte)'$');
            int plain = dollar < 0 ? replacement.Length - at : dollar;
            _heap.AddCopy(replacement.Start + at, plain);
            at += plain;
            if (at == replacement.Length)
            {
                return;
            }

            byte kind = at + 1 < replacement.Length ? _heap.Span(replacement)[at + 1] : (byte)0;
            at += kind is (byte)'$' or (byte)'&' or (byte)'`' or (byte)'\'' ? 2 : 1;
            switch (kind)
            {
                case (byte)'&':
                    _heap.AddCopy(wanted.Start, wanted.Length);
                    break;
                case (byte)'`':
                    _heap.AddCopy(text.Start, found);
                    break;
                case (byte)'\'':
                    _heap.AddCopy(text.Start + found + wanted.Length, text.Length - found - wanted.Length);
                    break;
                default:
                    _heap.Add((byte)'$');
                    break;
            }
        }
    }

    private ScriptValue Split(ScriptValue text, ScriptValue separator)
    {
        RequireWholeCharacters(separator);
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

        while (IndexOf(text, at, separator) is >= 0 and int found)
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
        if (!(count >= 0) || count * Math.Max(text.Length, 1) > _limits.MemoryBytes)
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
