using System.Globalization;
using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>Strings of C#: by the numbers of their characters, whatever the culture.</content>
public sealed partial class ScriptInterpreter
{
    private const int MostPadding = 64 * 1024;
    private const int BytesPerString = 32;

    // In a builder, a string and an array.
    private const int CopiesOfCharacters = 4;

    /// <summary>
    /// Counts the memory of a string of the runtime before it is made; until the function of C# that is at work has
    /// its value.
    /// </summary>
    private void HoldString(long length) => _heap.Hold(BytesPerString + (sizeof(char) * length));

    private string NetText(ScriptValue text)
    {
        text = _heap.Plain(text);
        _heap.SpendOnBytes(text.Length);
        HoldString(text.Length);
        if (_heap.HasHalves && Utf16Text.IndexOfHalf(_heap.Span(text)) >= 0)
        {
            throw new ScriptFailure("the script goes on with a text that was cut inside a surrogate pair");
        }

        return Encoding.UTF8.GetString(_heap.Span(text));
    }

    private ScriptValue InvokeOnCSharpText(ScriptFunction function, ReadOnlySpan<ScriptValue> arguments)
    {
        var first = arguments[0];
        switch (function)
        {
            case ScriptFunction.ToCharacter:
                return first.With(ValueTrait.Character);
            case ScriptFunction.IsEqual:
                return ScriptValue.Of(IsEqual(first, arguments[1]));
            case ScriptFunction.IsNullOrEmpty:
                return ScriptValue.Of(first.IsNothing || TextOf(first, function).Length == 0);
            case ScriptFunction.IsNullOrWhiteSpace:
                return ScriptValue.Of(first.IsNothing || NetText(TextOf(first, function)).AsSpan().Trim().IsEmpty);
            case ScriptFunction.JoinWith:
                return JoinWith(first, arguments[1]);
            case ScriptFunction.JoinAll:
                return JoinWith(_heap.NewText(default), first);
            case ScriptFunction.FormatText:
                return FormatText(NetText(TextOf(first, function)), arguments[1]);
            case ScriptFunction.CompareOrdinal:
                return ScriptValue.OfInt(
                    first.IsNothing || arguments[1].IsNothing
                        ? first.IsNothing.CompareTo(arguments[1].IsNothing) * -1
                        : Math.Sign(CompareTexts(TextOf(first, function), TextOf(arguments[1], function)))
                );
            case ScriptFunction.IsSameText:
                return ScriptValue.Of(
                    first.IsNothing || arguments[1].IsNothing
                        ? first.IsNothing && arguments[1].IsNothing
                        : string.Equals(
                            NetText(TextOf(first, function)),
                            NetText(TextOf(arguments[1], function)),
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

        return InvokeOnCSharpText(function, TextOf(first, function), arguments);
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
                return TrimAsCSharp(function, NetText(text), arguments[1..]);
            case ScriptFunction.CSharpSubstring:
                int length = LengthOf(text);
                int from = IndexIn(arguments[1], length);
                return Part(text, from, arguments.Length > 2 ? from + IndexIn(arguments[2], length - from) : length);
            case ScriptFunction.CSharpIncludes
            or ScriptFunction.CSharpStartsWith
            or ScriptFunction.CSharpEndsWith
            or ScriptFunction.CSharpIndexOf
            or ScriptFunction.CSharpLastIndexOf:
                return SearchAsCSharp(function, text, TextOf(arguments[1], function), arguments);
            case ScriptFunction.CSharpReplace:
                return ReplaceAsCSharp(NetText(text), NetText(TextOf(arguments[1], function)), arguments);
            case ScriptFunction.CSharpSplit:
                return SplitAsCSharp(NetText(text), arguments[1], arguments[2..]);
            case ScriptFunction.CSharpPadLeft or ScriptFunction.CSharpPadRight:
                int width = IndexIn(arguments[1], MostPadding);
                char fill = arguments.Length > 2 ? CharacterOf(arguments[2]) : ' ';
                HoldString(width);
                return NewText(
                    function == ScriptFunction.CSharpPadLeft
                        ? NetText(text).PadLeft(width, fill)
                        : NetText(text).PadRight(width, fill)
                );
            case ScriptFunction.CSharpInsert:
                string whole = NetText(text);
                string inserted = NetText(TextOf(arguments[2], function));
                HoldString(whole.Length + inserted.Length);
                return NewText(whole.Insert(IndexIn(arguments[1], whole.Length), inserted));
            case ScriptFunction.CSharpRemove:
                whole = NetText(text);
                HoldString(whole.Length);
                from = IndexIn(arguments[1], whole.Length);
                return NewText(
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

        string replacement = arguments[2].IsNothing ? "" : NetText(TextOf(arguments[2], ScriptFunction.CSharpReplace));
        var comparison = ComparisonOf(arguments);
        SpendOnSearch(text.Length, wanted.Length);
        long length = text.Length;
        for (int at = 0; (at = text.IndexOf(wanted, at, comparison)) >= 0; at += wanted.Length)
        {
            length += replacement.Length - wanted.Length;
        }

        HoldString(length);
        return NewText(text.Replace(wanted, replacement, comparison));
    }

    private ScriptValue TextOf(ScriptValue value, ScriptFunction function) =>
        value.IsText
            ? _heap.Plain(value)
            : throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on {NameOf(value)}, which is no string"
            );

    private int IndexIn(ScriptValue value, int most) =>
        Required(value, "an index") is { IsWhole: true } index && index.Whole >= 0 && index.Whole <= most
            ? (int)index.Whole
            : throw new ScriptFailure($"an index or length is not between 0 and {most}");

    private char CharacterOf(ScriptValue value) =>
        NetText(value) is [var only]
            ? only
            : throw new ScriptFailure($"'{Shown(_heap.Plain(value))}' is no single character");

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
        RequireWholeCharacters(wanted);
        SpendOnSearch(text.Length, wanted.Length);
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

        var (whole, searched, comparison) = (NetText(text), NetText(wanted), ComparisonOf(arguments));
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
                        ? NetText(JoinWith(_heap.NewText(default), argument))
                        : CharacterOf(TextOf(argument, function)).ToString();
                HoldString(CopiesOfCharacters * some.Length);
                trimmed.Append(some);
            }
        }

        SpendOnSearch(text.Length, trimmed.Length);
        HoldString(text.Length);
        char[]? set = trimmed.Length == 0 ? null : trimmed.ToString().ToCharArray();
        return NewText(
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
        _heap.Hold(BytesPerString + ((long)_heap.Count(separators) * IntPtr.Size));
        var parts = new string[_heap.Count(separators)];
        for (int index = 0; index < parts.Length; index++)
        {
            var part = _heap.Element(separators, index);
            parts[index] = part.IsNothing ? "" : NetText(TextOf(part, ScriptFunction.CSharpSplit));
        }

        int most = int.MaxValue;
        var choices = StringSplitOptions.None;
        foreach (var option in options)
        {
            if (option.IsNumber)
            {
                most = IndexIn(option, int.MaxValue);
            }
            else if (Enum.TryParse(NetText(option), out StringSplitOptions choice))
            {
                choices |= choice;
            }
        }

        SpendOnSearch(text.Length, parts.Length);
        _heap.Hold(BytesOfSplit(text, parts));
        var array = _heap.NewArray();
        foreach (string part in text.Split(parts, most, choices))
        {
            _heap.Append(array, NewText(part));
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
                AddCSharpText(between);
            }

            AddCSharpText(_heap.Element(values, index));
        }

        return _heap.TextFrom(start);
    }

    /// <summary><c>string.Format</c>: <c>{index,width:format}</c> stands for a value, <c>{{</c> for a brace.</summary>
    private ScriptValue FormatText(string format, ScriptValue values)
    {
        int start = _heap.Length;
        for (int at = 0; at < format.Length; at++)
        {
            char next = format[at];
            if (next is '{' or '}' && at + 1 < format.Length && format[at + 1] == next)
            {
                Add(next.ToString());
                at++;
            }
            else if (next is '{')
            {
                int end = format.IndexOf('}', at);
                bool isItem = end >= 0 && !format.AsSpan(at + 1, end - at - 1).Contains('{');
                AddFormatted(isItem ? format[(at + 1)..end] : throw InvalidFormat(), values);
                at = end;
            }
            else
            {
                int end = format.AsSpan(at).IndexOfAny('{', '}');
                Add(
                    end == 0 ? throw InvalidFormat()
                    : end < 0 ? format[at..]
                    : format[at..(at + end)]
                );
                at = end < 0 ? format.Length : at + end - 1;
            }
        }

        return _heap.TextFrom(start);
    }

    private void AddFormatted(string item, ScriptValue values)
    {
        _heap.Spend(4);
        int colon = item.IndexOf(':', StringComparison.Ordinal);
        string head = colon < 0 ? item : item[..colon];
        int comma = head.IndexOf(',', StringComparison.Ordinal);
        int width = 0;
        if (
            !int.TryParse(
                comma < 0 ? head : head[..comma],
                NumberStyles.AllowTrailingWhite,
                CultureInfo.InvariantCulture,
                out int index
            )
            || index >= _heap.Count(values)
            || (
                comma >= 0
                && (
                    !int.TryParse(head[(comma + 1)..], NumberStyles.Integer, CultureInfo.InvariantCulture, out width)
                    || Math.Abs((long)width) > MostPadding
                )
            )
        )
        {
            throw InvalidFormat();
        }

        var value = _heap.Element(values, index);
        int before = _heap.Length;
        bool isFormatted = colon >= 0 && (value.IsNumber || TimeOf(value) is { IsTime: true });
        if (isFormatted || width != 0)
        {
            string text = isFormatted ? Format(value, item[(colon + 1)..]) : NetText(CSharpTextOf(value));
            _heap.Truncate(before);
            Add(width < 0 ? text.PadRight(-width) : text.PadLeft(width));
        }
        else
        {
            _heap.Truncate(before);
            AddCSharpText(value);
        }
    }

    /// <summary><c>left.Equals(right)</c>.</summary>
    private bool IsEqual(ScriptValue left, ScriptValue right)
    {
        if (!left.IsNumber || !right.IsNumber)
        {
            return IsSame(left, right);
        }

        var (first, second) = (NumeralOf(left), NumeralOf(right));
        bool isStored = left.Kind == ValueKind.StoredNumber || right.Kind == ValueKind.StoredNumber;
        bool isTaken =
            second.IsWhole
            || (second.IsReal && first.IsReal && second.Type <= first.Type)
            || (second.Type == CSharpNumberType.Decimal && !first.IsWhole && (isStored || !first.IsReal))
            || (second.IsReal && isStored && first.Type == CSharpNumberType.Decimal);
        return isTaken && Compare(left, right) == 0;
    }

    private static ScriptFailure InvalidFormat() =>
        new("a format of string.Format is not written as formats are, or asks for more values than there are");
}
