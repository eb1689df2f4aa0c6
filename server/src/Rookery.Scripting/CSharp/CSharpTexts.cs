using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>String methods of C#. Characters are compared by code, independent of the culture.</summary>
internal static class CSharpTexts
{
    // Estimated copies of each character during a call: in a builder, a string and an array.
    private const int CopiesOfCharacters = 4;

    public static ScriptValue InvokeOnCSharpText(
        this ScriptHeap heap,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var first = arguments[0];
        switch (function)
        {
            case ScriptFunction.ToCharacter:
                return first.With(ValueTrait.Character);
            case ScriptFunction.IsEqual:
                return ScriptValue.Of(heap.IsEqual(first, arguments[1]));
            case ScriptFunction.AreEqualObjects:
                return ScriptValue.Of(heap.AreEqualObjects(first, arguments[1]));
            case ScriptFunction.IsNullOrEmpty:
                return ScriptValue.Of(first.IsNothing || heap.TextOf(first, function).Length == 0);
            case ScriptFunction.IsNullOrWhiteSpace:
                return ScriptValue.Of(
                    first.IsNothing || heap.NetText(heap.TextOf(first, function)).AsSpan().Trim().IsEmpty
                );
            case ScriptFunction.JoinWith:
                return JoinWith(heap, first, arguments[1]);
            case ScriptFunction.JoinAll:
                return JoinWith(heap, heap.NewText(default), first);
            case ScriptFunction.FormatText:
                return heap.FormatText(heap.NetText(heap.TextOf(first, function)), arguments[1]);
            case ScriptFunction.CompareOrdinal:
                return ScriptValue.OfInt(
                    first.IsNothing || arguments[1].IsNothing
                        ? first.IsNothing.CompareTo(arguments[1].IsNothing) * -1
                        : Math.Sign(
                            heap.CompareTexts(heap.TextOf(first, function), heap.TextOf(arguments[1], function))
                        )
                );
            case ScriptFunction.IsSameText:
                return ScriptValue.Of(
                    first.IsNothing || arguments[1].IsNothing
                        ? first.IsNothing && arguments[1].IsNothing
                        : string.Equals(
                            heap.NetText(heap.TextOf(first, function)),
                            heap.NetText(heap.TextOf(arguments[1], function)),
                            ComparisonOf(heap, arguments)
                        )
                );
            case ScriptFunction.CSharpIncludes
                when first.Kind is ValueKind.Array or ValueKind.Object or ValueKind.Undefined or ValueKind.Null:
                return ScriptValue.Of(heap.IndexOfSame(heap.ToSequence(first), arguments[1]) >= 0);
            case ScriptFunction.CSharpIndexOf or ScriptFunction.CSharpLastIndexOf when first.Kind == ValueKind.Array:
                bool isBackwards = function == ScriptFunction.CSharpLastIndexOf;
                return ScriptValue.OfInt(heap.IndexOfSame(first, arguments[1], isBackwards));
        }

        if (first.IsNothing)
        {
            return function is ScriptFunction.CSharpStartsWith or ScriptFunction.CSharpEndsWith
                ? ScriptValue.Of(false)
                : ScriptValue.Null;
        }

        foreach (var argument in arguments[1..])
        {
            bool acceptsNull =
                function
                is ScriptFunction.CSharpReplace
                    or (>= ScriptFunction.CSharpTrim and <= ScriptFunction.CSharpTrimEnd);
            if (argument.IsNothing && !acceptsNull)
            {
                throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} with null");
            }
        }

        return heap.InvokeOnCSharpText(function, heap.TextOf(first, function), arguments);
    }

    public static ScriptValue InvokeOnCSharpText(
        this ScriptHeap heap,
        ScriptFunction function,
        ScriptValue text,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        switch (function)
        {
            case ScriptFunction.CSharpToLower:
                return InSimpleCase(heap, text, isUpper: false);
            case ScriptFunction.CSharpToUpper:
                return InSimpleCase(heap, text, isUpper: true);
            case ScriptFunction.CSharpTrim or ScriptFunction.CSharpTrimStart or ScriptFunction.CSharpTrimEnd:
                return TrimAsCSharp(heap, function, heap.NetText(text), arguments[1..]);
            case ScriptFunction.CSharpSubstring:
                int length = heap.LengthOf(text);
                int from = IndexIn(heap, arguments[1], length);
                return heap.Part(
                    text,
                    from,
                    arguments.Length > 2 ? from + IndexIn(heap, arguments[2], length - from) : length
                );
            case ScriptFunction.CSharpIncludes
            or ScriptFunction.CSharpStartsWith
            or ScriptFunction.CSharpEndsWith
            or ScriptFunction.CSharpIndexOf
            or ScriptFunction.CSharpLastIndexOf:
                return SearchAsCSharp(heap, function, text, heap.TextOf(arguments[1], function), arguments);
            case ScriptFunction.CSharpReplace:
                return ReplaceAsCSharp(
                    heap,
                    heap.NetText(text),
                    heap.NetText(heap.TextOf(arguments[1], function)),
                    arguments
                );
            case ScriptFunction.CSharpSplit:
                return SplitAsCSharp(heap, heap.NetText(text), arguments[1], arguments[2..]);
            case ScriptFunction.CSharpPadLeft or ScriptFunction.CSharpPadRight:
                int width = IndexIn(heap, arguments[1], CSharpFormats.MaxPadding);
                char fill = arguments.Length > 2 ? CharacterOf(heap, arguments[2]) : ' ';
                heap.HoldString(width);
                return heap.NewString(
                    function == ScriptFunction.CSharpPadLeft
                        ? heap.NetText(text).PadLeft(width, fill)
                        : heap.NetText(text).PadRight(width, fill)
                );
            case ScriptFunction.CSharpInsert:
                string whole = heap.NetText(text);
                string inserted = heap.NetText(heap.TextOf(arguments[2], function));
                heap.HoldString(whole.Length + inserted.Length);
                return heap.NewString(whole.Insert(IndexIn(heap, arguments[1], whole.Length), inserted));
            case ScriptFunction.CSharpRemove:
                whole = heap.NetText(text);
                heap.HoldString(whole.Length);
                from = IndexIn(heap, arguments[1], whole.Length);
                return heap.NewString(
                    arguments.Length > 2
                        ? whole.Remove(from, IndexIn(heap, arguments[2], whole.Length - from))
                        : whole[..from]
                );
            default:
                throw ScriptProgram.Broken();
        }
    }

    /// <summary>
    /// Maps letters to lower or upper case as the invariant culture does, by tables that are the same on every member.
    /// </summary>
    private static ScriptValue InSimpleCase(ScriptHeap heap, ScriptValue text, bool isUpper)
    {
        heap.Budget.SpendOnBytes(text.Length);
        int start = heap.Length;

        // A letter of two bytes has at most three bytes in the other case.
        var room = heap.Reserve((text.Length * 3 / 2) + Utf16Text.PairBytes);
        int written = 0;
        for (var unread = heap.Span(text); !unread.IsEmpty; )
        {
            int character = Utf16Text.ReadCharacter(ref unread);

            // The invariant culture does not change these two letters, although their upper case is an ASCII letter.
            bool isKept = isUpper && character is ('ı' or 'ſ');
            written += Utf16Text.Write(isKept ? character : LetterCase.Map(character, isUpper), room[written..]);
        }

        heap.Advance(written);
        return heap.TextFrom(start);
    }

    private static ScriptValue ReplaceAsCSharp(
        ScriptHeap heap,
        string text,
        string wanted,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        if (wanted.Length == 0)
        {
            throw new ScriptFailure("the script replaces an empty string");
        }

        string replacement = arguments[2].IsNothing
            ? ""
            : heap.NetText(heap.TextOf(arguments[2], ScriptFunction.CSharpReplace));
        var comparison = ComparisonOf(heap, arguments);
        heap.SpendOnSearch(text.Length, wanted.Length);
        long length = text.Length;
        for (int at = 0; (at = text.IndexOf(wanted, at, comparison)) >= 0; at += wanted.Length)
        {
            length += replacement.Length - wanted.Length;
        }

        heap.HoldString(length);
        return heap.NewString(text.Replace(wanted, replacement, comparison));
    }

    private static int IndexIn(ScriptHeap heap, ScriptValue value, int max) =>
        heap.Required(value, "an index") is { IsWhole: true } index && index.Whole >= 0 && index.Whole <= max
            ? (int)index.Whole
            : throw new ScriptFailure($"an index or length is not between 0 and {max}");

    private static char CharacterOf(ScriptHeap heap, ScriptValue value) =>
        heap.NetText(value) is [var only]
            ? only
            : throw new ScriptFailure($"'{heap.Shown(heap.Plain(value))}' is no single character");

    /// <summary>
    /// Returns the comparison in the last argument, where the parser of the definition puts it; ordinal if there is
    /// none.
    /// </summary>
    private static StringComparison ComparisonOf(ScriptHeap heap, ReadOnlySpan<ScriptValue> arguments) =>
        arguments[^1].Kind == ValueKind.Text && heap.Span(arguments[^1]).SequenceEqual("\0OrdinalIgnoreCase"u8)
            ? StringComparison.OrdinalIgnoreCase
            : StringComparison.Ordinal;

    private static ScriptValue SearchAsCSharp(
        ScriptHeap heap,
        ScriptFunction function,
        ScriptValue text,
        ScriptValue wanted,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        heap.RequireWholeCharacters(wanted);
        heap.SpendOnSearch(text.Length, wanted.Length);
        if (
            arguments.Length == 2
            && function
                is ScriptFunction.CSharpIncludes
                    or ScriptFunction.CSharpStartsWith
                    or ScriptFunction.CSharpEndsWith
        )
        {
            var bytes = heap.Span(text);
            var part = heap.Span(wanted);
            return ScriptValue.Of(
                function == ScriptFunction.CSharpIncludes ? bytes.IndexOf(part) >= 0
                : function == ScriptFunction.CSharpStartsWith ? bytes.StartsWith(part)
                : bytes.EndsWith(part)
            );
        }

        var (whole, searched, comparison) = (heap.NetText(text), heap.NetText(wanted), ComparisonOf(heap, arguments));
        int from = arguments.Length > 2 && arguments[2].IsNumber ? IndexIn(heap, arguments[2], whole.Length) : -1;
        return function switch
        {
            ScriptFunction.CSharpIncludes => ScriptValue.Of(whole.Contains(searched, comparison)),
            ScriptFunction.CSharpStartsWith => ScriptValue.Of(whole.StartsWith(searched, comparison)),
            ScriptFunction.CSharpEndsWith => ScriptValue.Of(whole.EndsWith(searched, comparison)),
            ScriptFunction.CSharpIndexOf => ScriptValue.OfInt(whole.IndexOf(searched, Math.Max(from, 0), comparison)),
            _ => ScriptValue.OfInt(
                from < 0 ? whole.LastIndexOf(searched, comparison) : whole.LastIndexOf(searched, from, comparison)
            ),
        };
    }

    /// <summary>Trims the characters in the arguments. Without arguments, trims white space.</summary>
    private static ScriptValue TrimAsCSharp(
        ScriptHeap heap,
        ScriptFunction function,
        string text,
        ReadOnlySpan<ScriptValue> characters
    )
    {
        var trimmed = new StringBuilder();
        foreach (var argument in characters)
        {
            if (!argument.IsNothing)
            {
                string part =
                    argument.Kind == ValueKind.Array
                        ? heap.NetText(JoinWith(heap, heap.NewText(default), argument))
                        : CharacterOf(heap, heap.TextOf(argument, function)).ToString();
                heap.HoldString(CopiesOfCharacters * part.Length);
                trimmed.Append(part);
            }
        }

        heap.SpendOnSearch(text.Length, trimmed.Length);
        heap.HoldString(text.Length);
        char[]? set = trimmed.Length == 0 ? null : trimmed.ToString().ToCharArray();
        return heap.NewString(
            function switch
            {
                ScriptFunction.CSharpTrimStart => text.TrimStart(set),
                ScriptFunction.CSharpTrimEnd => text.TrimEnd(set),
                _ => text.Trim(set),
            }
        );
    }

    /// <summary>
    /// Estimates the memory that .NET needs to split a text: the positions of separators and a string for each part.
    /// </summary>
    private static long BytesOfSplit(string text, string[] separators)
    {
        const int BytesPerPart = 48;
        long parts = 1;
        foreach (string separator in separators)
        {
            parts += separator.Length == 0 ? 0 : text.AsSpan().Count(separator);
        }

        // Without separators, each blank is a separator.
        parts += separators.Length == 0 ? text.Length : 0;
        return (parts * BytesPerPart) + (2L * text.Length);
    }

    /// <summary>
    /// Splits a text at separators. An option is a text such as <c>RemoveEmptyEntries</c>, or the maximum number of
    /// parts.
    /// </summary>
    private static ScriptValue SplitAsCSharp(
        ScriptHeap heap,
        string text,
        ScriptValue separators,
        ReadOnlySpan<ScriptValue> options
    )
    {
        heap.Budget.Hold(CSharpStrings.BytesPerString + ((long)heap.Containers.Count(separators) * IntPtr.Size));
        var parts = new string[heap.Containers.Count(separators)];
        for (int index = 0; index < parts.Length; index++)
        {
            var part = heap.Containers.Element(separators, index);
            parts[index] = part.IsNothing ? "" : heap.NetText(heap.TextOf(part, ScriptFunction.CSharpSplit));
        }

        int max = int.MaxValue;
        var choices = StringSplitOptions.None;
        foreach (var option in options)
        {
            if (option.IsNumber)
            {
                max = IndexIn(heap, option, int.MaxValue);
            }
            else if (Enum.TryParse(heap.NetText(option), out StringSplitOptions choice))
            {
                choices |= choice;
            }
        }

        heap.SpendOnSearch(text.Length, parts.Length);
        heap.Budget.Hold(BytesOfSplit(text, parts));
        var array = heap.Containers.NewArray();
        foreach (string part in text.Split(parts, max, choices))
        {
            heap.Containers.Append(array, heap.NewString(part));
        }

        return array;
    }

    private static ScriptValue JoinWith(ScriptHeap heap, ScriptValue separator, ScriptValue values)
    {
        values = heap.ToSequence(values);
        int start = heap.Length;
        var between = separator.IsNothing ? default : separator;
        for (int index = 0; index < heap.Containers.Count(values); index++)
        {
            heap.Budget.Spend(1);
            if (index > 0)
            {
                heap.AddCSharpText(between);
            }

            heap.AddCSharpText(heap.Containers.Element(values, index));
        }

        return heap.TextFrom(start);
    }
}
