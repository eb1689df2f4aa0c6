using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Functions;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Strings of C#: by the numbers of their characters, whatever the culture.</content>
public sealed partial class ScriptInterpreter
{
    private const int MostPadding = 64 * 1024;

    // In a builder, a string and an array.
    private const int CopiesOfCharacters = 4;

    private ScriptValue InvokeOnCSharpText(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        var first = arguments[0];
        switch (function)
        {
            case ScriptFunction.ToCharacter:
                return first.With(ValueTrait.Character);
            case ScriptFunction.IsEqual:
                return ScriptValue.Of(_heap.IsEqual(first, arguments[1]));
            case ScriptFunction.IsNullOrEmpty:
                return ScriptValue.Of(first.IsNothing || _heap.TextOf(first, function).Length == 0);
            case ScriptFunction.IsNullOrWhiteSpace:
                return ScriptValue.Of(
                    first.IsNothing || _heap.NetText(_heap.TextOf(first, function)).AsSpan().Trim().IsEmpty
                );
            case ScriptFunction.JoinWith:
                return JoinWith(first, arguments[1]);
            case ScriptFunction.JoinAll:
                return JoinWith(_heap.NewText(default), first);
            case ScriptFunction.FormatText:
                return _heap.FormatText(_heap.NetText(_heap.TextOf(first, function)), arguments[1]);
            case ScriptFunction.CompareOrdinal:
                return ScriptValue.OfInt(
                    first.IsNothing || arguments[1].IsNothing
                        ? first.IsNothing.CompareTo(arguments[1].IsNothing) * -1
                        : Math.Sign(
                            _heap.CompareTexts(_heap.TextOf(first, function), _heap.TextOf(arguments[1], function))
                        )
                );
            case ScriptFunction.IsSameText:
                return ScriptValue.Of(
                    first.IsNothing || arguments[1].IsNothing
                        ? first.IsNothing && arguments[1].IsNothing
                        : string.Equals(
                            _heap.NetText(_heap.TextOf(first, function)),
                            _heap.NetText(_heap.TextOf(arguments[1], function)),
                            ComparisonOf(arguments)
                        )
                );
            case ScriptFunction.CSharpIncludes
                when first.Kind is ValueKind.Array or ValueKind.Object or ValueKind.Undefined or ValueKind.Null:
                return ScriptValue.Of(IndexOfSame(ToSequence(first), arguments[1]) >= 0);
            case ScriptFunction.CSharpIndexOf or ScriptFunction.CSharpLastIndexOf when first.Kind == ValueKind.Array:
                bool isBackwards = function == ScriptFunction.CSharpLastIndexOf;
                return ScriptValue.OfInt(IndexOfSame(first, arguments[1], isBackwards));
        }

        if (first.IsNothing)
        {
            return function is ScriptFunction.CSharpStartsWith or ScriptFunction.CSharpEndsWith
                ? ScriptValue.Of(false)
                : ScriptValue.Null;
        }

        foreach (var argument in arguments[1..])
        {
            bool takesNothing =
                function
                is ScriptFunction.CSharpReplace
                    or (>= ScriptFunction.CSharpTrim and <= ScriptFunction.CSharpTrimEnd);
            if (argument.IsNothing && !takesNothing)
            {
                throw new ScriptFailure($"the script calls {FunctionNames.Of(function)} with null");
            }
        }

        return InvokeOnCSharpText(function, _heap.TextOf(first, function), arguments);
    }

    private ScriptValue InvokeOnCSharpText(
        ScriptFunction function,
        ScriptValue text,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        switch (function)
        {
            case ScriptFunction.CSharpToLower:
                return InSimpleCase(text, isUpper: false);
            case ScriptFunction.CSharpToUpper:
                return InSimpleCase(text, isUpper: true);
            case ScriptFunction.CSharpTrim or ScriptFunction.CSharpTrimStart or ScriptFunction.CSharpTrimEnd:
                return TrimAsCSharp(function, _heap.NetText(text), arguments[1..]);
            case ScriptFunction.CSharpSubstring:
                int length = _heap.LengthOf(text);
                int from = IndexIn(arguments[1], length);
                return _heap.Part(
                    text,
                    from,
                    arguments.Length > 2 ? from + IndexIn(arguments[2], length - from) : length
                );
            case ScriptFunction.CSharpIncludes
            or ScriptFunction.CSharpStartsWith
            or ScriptFunction.CSharpEndsWith
            or ScriptFunction.CSharpIndexOf
            or ScriptFunction.CSharpLastIndexOf:
                return SearchAsCSharp(function, text, _heap.TextOf(arguments[1], function), arguments);
            case ScriptFunction.CSharpReplace:
                return ReplaceAsCSharp(
                    _heap.NetText(text),
                    _heap.NetText(_heap.TextOf(arguments[1], function)),
                    arguments
                );
            case ScriptFunction.CSharpSplit:
                return SplitAsCSharp(_heap.NetText(text), arguments[1], arguments[2..]);
            case ScriptFunction.CSharpPadLeft or ScriptFunction.CSharpPadRight:
                int width = IndexIn(arguments[1], MostPadding);
                char fill = arguments.Length > 2 ? CharacterOf(arguments[2]) : ' ';
                _heap.HoldString(width);
                return _heap.NewString(
                    function == ScriptFunction.CSharpPadLeft
                        ? _heap.NetText(text).PadLeft(width, fill)
                        : _heap.NetText(text).PadRight(width, fill)
                );
            case ScriptFunction.CSharpInsert:
                string whole = _heap.NetText(text);
                string inserted = _heap.NetText(_heap.TextOf(arguments[2], function));
                _heap.HoldString(whole.Length + inserted.Length);
                return _heap.NewString(whole.Insert(IndexIn(arguments[1], whole.Length), inserted));
            case ScriptFunction.CSharpRemove:
                whole = _heap.NetText(text);
                _heap.HoldString(whole.Length);
                from = IndexIn(arguments[1], whole.Length);
                return _heap.NewString(
                    arguments.Length > 2
                        ? whole.Remove(from, IndexIn(arguments[2], whole.Length - from))
                        : whole[..from]
                );
            default:
                throw ScriptProgram.Broken();
        }
    }

    /// <summary>The invariant culture's case: letter for letter, by tables that are the same on every member.</summary>
    private ScriptValue InSimpleCase(ScriptValue text, bool isUpper)
    {
        _heap.SpendOnBytes(text.Length);
        int start = _heap.Length;

        // The other case of a letter takes three bytes for two at most.
        var room = _heap.Reserve((text.Length * 3 / 2) + Utf16Text.PairBytes);
        int written = 0;
        for (var rest = _heap.Span(text); !rest.IsEmpty; )
        {
            int character = Utf16Text.Take(ref rest);

            // The invariant culture leaves these two, whose upper case is ASCII, as they are.
            bool isKept = isUpper && character is ('ı' or 'ſ');
            written += Utf16Text.Write(isKept ? character : LetterCase.Map(character, isUpper), room[written..]);
        }

        _heap.Advance(written);
        return _heap.TextFrom(start);
    }

    private ScriptValue ReplaceAsCSharp(string text, string wanted, ReadOnlySpan<ScriptValue> arguments)
    {
        if (wanted.Length == 0)
        {
            throw new ScriptFailure("the script replaces an empty string");
        }

        string replacement = arguments[2].IsNothing
            ? ""
            : _heap.NetText(_heap.TextOf(arguments[2], ScriptFunction.CSharpReplace));
        var comparison = ComparisonOf(arguments);
        _heap.SpendOnSearch(text.Length, wanted.Length);
        long length = text.Length;
        for (int at = 0; (at = text.IndexOf(wanted, at, comparison)) >= 0; at += wanted.Length)
        {
            length += replacement.Length - wanted.Length;
        }

        _heap.HoldString(length);
        return _heap.NewString(text.Replace(wanted, replacement, comparison));
    }

    private int IndexIn(ScriptValue value, int most) =>
        _heap.Required(value, "an index") is { IsWhole: true } index && index.Whole >= 0 && index.Whole <= most
            ? (int)index.Whole
            : throw new ScriptFailure($"an index or length is not between 0 and {most}");

    private char CharacterOf(ScriptValue value) =>
        _heap.NetText(value) is [var only]
            ? only
            : throw new ScriptFailure($"'{_heap.Shown(_heap.Plain(value))}' is no single character");

    /// <summary>
    /// The comparison that the last argument names, as the definition was told to put it there; without one by the
    /// numbers of characters.
    /// </summary>
    private StringComparison ComparisonOf(ReadOnlySpan<ScriptValue> arguments) =>
        arguments[^1].Kind == ValueKind.Text && _heap.Span(arguments[^1]).SequenceEqual("\0OrdinalIgnoreCase"u8)
            ? StringComparison.OrdinalIgnoreCase
            : StringComparison.Ordinal;

    private ScriptValue SearchAsCSharp(
        ScriptFunction function,
        ScriptValue text,
        ScriptValue wanted,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        _heap.RequireWholeCharacters(wanted);
        _heap.SpendOnSearch(text.Length, wanted.Length);
        if (
            arguments.Length == 2
            && function
                is ScriptFunction.CSharpIncludes
                    or ScriptFunction.CSharpStartsWith
                    or ScriptFunction.CSharpEndsWith
        )
        {
            var bytes = _heap.Span(text);
            var part = _heap.Span(wanted);
            return ScriptValue.Of(
                function == ScriptFunction.CSharpIncludes ? bytes.IndexOf(part) >= 0
                : function == ScriptFunction.CSharpStartsWith ? bytes.StartsWith(part)
                : bytes.EndsWith(part)
            );
        }

        var (whole, searched, comparison) = (_heap.NetText(text), _heap.NetText(wanted), ComparisonOf(arguments));
        int from = arguments.Length > 2 && arguments[2].IsNumber ? IndexIn(arguments[2], whole.Length) : -1;
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

    /// <summary>Without characters blanks are trimmed; else all of those that the arguments are.</summary>
    private ScriptValue TrimAsCSharp(ScriptFunction function, string text, ReadOnlySpan<ScriptValue> characters)
    {
        var trimmed = new StringBuilder();
        foreach (var argument in characters)
        {
            if (!argument.IsNothing)
            {
                string some =
                    argument.Kind == ValueKind.Array
                        ? _heap.NetText(JoinWith(_heap.NewText(default), argument))
                        : CharacterOf(_heap.TextOf(argument, function)).ToString();
                _heap.HoldString(CopiesOfCharacters * some.Length);
                trimmed.Append(some);
            }
        }

        _heap.SpendOnSearch(text.Length, trimmed.Length);
        _heap.HoldString(text.Length);
        char[]? set = trimmed.Length == 0 ? null : trimmed.ToString().ToCharArray();
        return _heap.NewString(
            function switch
            {
                ScriptFunction.CSharpTrimStart => text.TrimStart(set),
                ScriptFunction.CSharpTrimEnd => text.TrimEnd(set),
                _ => text.Trim(set),
            }
        );
    }

    /// <summary>What the runtime takes to split a text: places of separators, and a string for each part.</summary>
    private static long BytesOfSplit(string text, string[] separators)
    {
        const int BytesPerPart = 48;
        long parts = 1;
        foreach (string separator in separators)
        {
            parts += separator.Length == 0 ? 0 : text.AsSpan().Count(separator);
        }

        // Without separators every blank is one.
        parts += separators.Length == 0 ? text.Length : 0;
        return (parts * BytesPerPart) + (2L * text.Length);
    }

    /// <summary>
    /// Splits at each of the separators; the options are a text such as <c>RemoveEmptyEntries</c>, and a number is
    /// the most parts.
    /// </summary>
    private ScriptValue SplitAsCSharp(string text, ScriptValue separators, ReadOnlySpan<ScriptValue> options)
    {
        _heap.Hold(CSharpStrings.BytesPerString + ((long)_heap.Count(separators) * IntPtr.Size));
        var parts = new string[_heap.Count(separators)];
        for (int index = 0; index < parts.Length; index++)
        {
            var part = _heap.Element(separators, index);
            parts[index] = part.IsNothing ? "" : _heap.NetText(_heap.TextOf(part, ScriptFunction.CSharpSplit));
        }

        int most = int.MaxValue;
        var choices = StringSplitOptions.None;
        foreach (var option in options)
        {
            if (option.IsNumber)
            {
                most = IndexIn(option, int.MaxValue);
            }
            else if (Enum.TryParse(_heap.NetText(option), out StringSplitOptions choice))
            {
                choices |= choice;
            }
        }

        _heap.SpendOnSearch(text.Length, parts.Length);
        _heap.Hold(BytesOfSplit(text, parts));
        var array = _heap.NewArray();
        foreach (string part in text.Split(parts, most, choices))
        {
            _heap.Append(array, _heap.NewString(part));
        }

        return array;
    }

    private ScriptValue JoinWith(ScriptValue separator, ScriptValue values)
    {
        values = ToSequence(values);
        int start = _heap.Length;
        var between = separator.IsNothing ? default : separator;
        for (int index = 0; index < _heap.Count(values); index++)
        {
            _heap.Spend(1);
            if (index > 0)
            {
                _heap.AddCSharpText(between);
            }

            _heap.AddCSharpText(_heap.Element(values, index));
        }

        return _heap.TextFrom(start);
    }
}
