using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Functions;

/// <summary>Searches and replaces in texts.</summary>
internal static class TextSearch
{
    /// <summary>
    /// Computes <c>startsWith</c>, <c>endsWith</c>, <c>includes</c>, <c>indexOf</c> or <c>lastIndexOf</c> of texts.
    /// </summary>
    public static ScriptValue Search(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue text,
        ScriptValue wanted
    )
    {
        heap.RequireWholeCharacters(wanted);
        var bytes = heap.Span(text);
        var part = heap.Span(wanted);
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
            heap.SpendOnSearch(text.Length, wanted.Length);
            offset = bytes.LastIndexOf(part);
        }
        else
        {
            offset = heap.IndexOf(text, from: 0, wanted);
        }

        return function == ScriptFunction.Includes
            ? ScriptValue.Of(offset >= 0)
            : ScriptValue.Of(offset < 0 ? -1 : Utf16Text.Length(bytes[..offset]));
    }

    /// <summary>As <see cref="Search"/>, but from an index on.</summary>
    public static ScriptValue SearchFrom(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue text,
        ScriptValue wanted,
        ScriptValue from
    )
    {
        int units = heap.ToInteger(from, min: 0, heap.LengthOf(text));
        int start = Utf16Text.OffsetOf(heap.Span(text), units, out bool isInside);
        if (isInside)
        {
            throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} from half of a surrogate pair on");
        }

        var rest = ScriptValue.InHeap(ValueKind.Text, text.Start + start, text.Length - start);
        var found = heap.Search(function, rest, wanted);
        return found.IsNumber && found.Double >= 0 ? ScriptValue.Of(units + found.Double) : found;
    }

    /// <summary>
    /// Returns the offset of a text in another one, counted from <paramref name="from"/>; -1 if it is not found.
    /// </summary>
    public static int IndexOf(this ScriptHeap heap, ScriptValue text, int from, ScriptValue wanted)
    {
        // The steps for a longer text are counted before the search, because the search may take long.
        const int LongBytes = 256;
        var searched = heap.Span(text)[from..];
        if (wanted.Length > LongBytes)
        {
            heap.SpendOnSearch(searched.Length, wanted.Length);
            return searched.IndexOf(heap.Span(wanted));
        }

        int offset = searched.IndexOf(heap.Span(wanted));
        heap.SpendOnSearch(offset < 0 ? searched.Length : offset, wanted.Length);
        return offset;
    }

    /// <summary>
    /// Rejects a text that begins or ends with half of a surrogate pair, because its bytes would not be found inside
    /// whole pairs.
    /// </summary>
    public static void RequireWholeCharacters(this ScriptHeap heap, ScriptValue wanted)
    {
        if (heap.HasLoneSurrogates && Utf16Text.IsCutAtAnEnd(heap.Span(wanted)))
        {
            throw new ScriptFailure("the script searches for a text that was cut inside a surrogate pair");
        }
    }

    /// <summary>
    /// Counts the steps of a search. In the worst case, it compares the whole wanted text at each position.
    /// </summary>
    /// <param name="heap">The heap.</param>
    /// <param name="length">Number of bytes to search in.</param>
    /// <param name="wanted">Number of bytes of the wanted text.</param>
    public static void SpendOnSearch(this ScriptHeap heap, int length, int wanted)
    {
        heap.Budget.Spend(
            (int)
                Math.Min(
                    1 + ((long)length / ScriptBudget.BytesPerStep * (1 + (wanted / ScriptBudget.BytesPerStep))),
                    int.MaxValue
                )
        );
    }

    /// <summary>Returns a text in which the first or each occurrence of a wanted text is replaced.</summary>
    public static ScriptValue Replace(
        this ScriptHeap heap,
        ScriptValue text,
        ScriptValue wanted,
        ScriptValue replacement,
        bool isAll
    )
    {
        heap.RequireWholeCharacters(wanted);
        int start = heap.Length;
        int at = 0;
        while (true)
        {
            int skipped = at > text.Length ? -1 : heap.IndexOf(text, at, wanted);
            if (skipped < 0)
            {
                break;
            }

            heap.AddCopy(text.Start + at, skipped);
            AddReplacement(heap, text, wanted, replacement, at + skipped);
            at += skipped + wanted.Length;
            if (wanted.Length == 0)
            {
                int length = at < text.Length ? Utf16Text.BytesAt(heap.Span(text)[at]) : 0;
                AddUnits(heap, text, wanted, isAll ? replacement : default, at, length);
                at += Math.Max(length, 1);
            }

            if (!isAll)
            {
                break;
            }
        }

        if (at < text.Length)
        {
            heap.AddCopy(text.Start + at, text.Length - at);
        }

        return heap.TextFrom(start);
    }

    /// <summary>
    /// Appends the character at an offset, with a replacement between the halves of a surrogate pair.
    /// </summary>
    private static void AddUnits(
        ScriptHeap heap,
        ScriptValue text,
        ScriptValue wanted,
        ScriptValue replacement,
        int at,
        int length
    )
    {
        if (length < Utf16Text.PairBytes || !replacement.IsText || replacement.Length == 0)
        {
            heap.AddCopy(text.Start + Math.Min(at, text.Length), length);
            return;
        }

        RefuseAroundHalf(heap, replacement);
        heap.AddHalf(text.Start + at, isSecond: false);
        AddReplacement(heap, text, wanted, replacement, at);
        heap.AddHalf(text.Start + at, isSecond: true);
    }

    /// <summary>
    /// Rejects <c>$`</c> and <c>$'</c> between the halves of a pair, because the text before or after a half is not a
    /// range of bytes.
    /// </summary>
    private static void RefuseAroundHalf(ScriptHeap heap, ScriptValue replacement)
    {
        var bytes = heap.Span(replacement);
        if (bytes.IndexOf("$`"u8) >= 0 || bytes.IndexOf("$'"u8) >= 0)
        {
            throw new ScriptFailure("the script replaces inside a surrogate pair by the text before or after it");
        }
    }

    /// <summary>
    /// Appends a replacement, in which <c>$$</c> is a dollar sign, <c>$&amp;</c> the match, and <c>$`</c> and <c>$'</c>
    /// the text before and after the match, which begins at an offset in the text.
    /// </summary>
    private static void AddReplacement(
        ScriptHeap heap,
        ScriptValue text,
        ScriptValue wanted,
        ScriptValue replacement,
        int matchStart
    )
    {
        for (int at = 0; at < replacement.Length; )
        {
            int dollar = heap.Span(replacement)[at..].IndexOf((byte)'$');
            int plain = dollar < 0 ? replacement.Length - at : dollar;
            heap.AddCopy(replacement.Start + at, plain);
            at += plain;
            if (at == replacement.Length)
            {
                return;
            }

            byte kind = at + 1 < replacement.Length ? heap.Span(replacement)[at + 1] : (byte)0;
            at += kind is (byte)'$' or (byte)'&' or (byte)'`' or (byte)'\'' ? 2 : 1;
            switch (kind)
            {
                case (byte)'&':
                    heap.AddCopy(wanted.Start, wanted.Length);
                    break;
                case (byte)'`':
                    heap.AddCopy(text.Start, matchStart);
                    break;
                case (byte)'\'':
                    heap.AddCopy(text.Start + matchStart + wanted.Length, text.Length - matchStart - wanted.Length);
                    break;
                default:
                    heap.Add((byte)'$');
                    break;
            }
        }
    }
}
