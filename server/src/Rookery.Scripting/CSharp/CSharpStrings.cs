using System.Globalization;
using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.CSharp;

/// <summary>Converts between texts of scripts and .NET strings, and computes C#'s <c>ToString()</c>.</summary>
internal static class CSharpStrings
{
    /// <summary>Estimated memory of a .NET string without its characters.</summary>
    public const int BytesPerString = 32;

    /// <summary>
    /// Counts the memory of a .NET string before it is created, until the running C# function returns.
    /// </summary>
    public static void HoldString(this ScriptHeap heap, long length) =>
        heap.Budget.Hold(BytesPerString + (sizeof(char) * length));

    /// <summary>
    /// Returns a text as a .NET string. The script fails if half of a surrogate pair stands alone in it.
    /// </summary>
    public static string NetText(this ScriptHeap heap, ScriptValue text)
    {
        text = heap.Plain(text);
        heap.Budget.SpendOnBytes(text.Length);
        heap.HoldString(text.Length);
        if (heap.HasLoneSurrogates && Utf16Text.IndexOfLoneSurrogate(heap.Span(text)) >= 0)
        {
            throw new ScriptFailure("the script uses a text that was cut inside a surrogate pair");
        }

        return Encoding.UTF8.GetString(heap.Span(text));
    }

    /// <summary>Returns a text without escapes. The script fails if the value is no text.</summary>
    /// <param name="heap">The heap.</param>
    /// <param name="value">The value.</param>
    /// <param name="function">The function that is called on the value, for the message.</param>
    public static ScriptValue TextOf(this ScriptHeap heap, ScriptValue value, ScriptFunction function) =>
        value.IsText
            ? heap.Plain(value)
            : throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} on {NameOf(value)}, which is no string"
            );

    /// <summary>Returns the text of a value's <c>ToString()</c> in the invariant culture; empty for null.</summary>
    public static ScriptValue CSharpTextOf(this ScriptHeap heap, ScriptValue value)
    {
        if (value.IsText && heap.TimeOf(value) is not { IsDateOrSpan: true, IsDay: false })
        {
            return heap.Plain(value).With(ValueTrait.None);
        }

        int start = heap.Length;
        heap.AddCSharpText(value);
        return heap.TextFrom(start);
    }

    /// <summary>
    /// Appends the text of a value's <c>ToString()</c> in the invariant culture. Appends nothing for null.
    /// </summary>
    public static void AddCSharpText(this ScriptHeap heap, ScriptValue value)
    {
        switch (value.Kind)
        {
            case ValueKind.Undefined or ValueKind.Null:
                break;
            case ValueKind.True:
                heap.Add("True"u8);
                break;
            case ValueKind.False:
                heap.Add("False"u8);
                break;
            case var _ when heap.TimeOf(value) is { IsDateOrSpan: true } time && !(value.IsText && time.IsDay):
                heap.AddString(time.Format(null));
                break;
            case ValueKind.Text or ValueKind.EscapedText:
                heap.AddText(value, level: 0);
                break;
            case ValueKind.Decimal:
                heap.AddCopy(value.Start, value.Length);
                break;
            case var _ when value.IsNumber:
                heap.AddString(FormatNumber(heap.NumeralOf(value), format: null));
                break;
            default:
                throw new ScriptFailure($"the script makes a text of {NameOf(value)}");
        }
    }

    /// <summary>Appends a .NET string. The script fails if half of a surrogate pair stands alone in it.</summary>
    public static void AddString(this ScriptHeap heap, string text)
    {
        for (int at = 0; at < text.Length; at++)
        {
            if (char.IsSurrogate(text[at]) && !(at + 1 < text.Length && char.IsSurrogatePair(text[at], text[++at])))
            {
                throw new ScriptFailure("the script cuts a text inside a surrogate pair");
            }
        }

        var room = heap.Reserve(Encoding.UTF8.GetByteCount(text));
        heap.Advance(Encoding.UTF8.GetBytes(text, room));
    }

    /// <summary>Returns a .NET string as a text of the script. Spends steps for its length.</summary>
    public static ScriptValue NewString(this ScriptHeap heap, string text)
    {
        heap.Budget.SpendOnBytes(text.Length);
        int start = heap.Length;
        heap.AddString(text);
        return heap.TextFrom(start);
    }

    /// <summary>Formats a date, time span or number as <c>ToString(format)</c>; empty for null.</summary>
    /// <exception cref="ScriptFailure">The value has no formats, or the format is invalid or too long.</exception>
    public static string Format(this ScriptHeap heap, ScriptValue value, string format)
    {
        const int MaxFormatLength = 64;
        // .NET ends a format at this character, so the rest would hide what comes before it from the check below.
        if (format.Contains('\0', StringComparison.Ordinal))
        {
            throw new ScriptFailure("a format has the character '\\0', which this server does not allow");
        }

        // A precision of more than two digits would make a long text.
        if (
            format.Length > MaxFormatLength
            || (
                format.Length > 3
                && char.IsAsciiLetter(format[0])
                && format.AsSpan(1).IndexOfAnyExceptInRange('0', '9') < 0
            )
        )
        {
            throw new ScriptFailure("a format is longer than this server allows");
        }

        try
        {
            return value switch
            {
                _ when heap.TimeOf(value) is { IsDateOrSpan: true } time => time.Format(format),
                _ when value.IsNumber => FormatNumber(heap.NumeralOf(value), format),
                _ when value.Trait == ValueTrait.Weekday => Enum.Parse<DayOfWeek>(heap.NetText(value)).ToString(format),
                _ when value.IsNothing => "",
                _ => throw new ScriptFailure($"the script formats {NameOf(value)} as '{format}'"),
            };
        }
        catch (FormatException)
        {
            throw new ScriptFailure($"'{format}' is no format of {NameOf(value)}");
        }
    }

    public static string FormatNumber(CSharpNumber number, string? format) =>
        number.Type switch
        {
            CSharpNumberType.Int => ((int)number.Whole).ToString(format, CultureInfo.InvariantCulture),
            CSharpNumberType.Whole => number.Whole.ToString(format, CultureInfo.InvariantCulture),
            CSharpNumberType.Single => ((float)number.Real).ToString(format, CultureInfo.InvariantCulture),
            CSharpNumberType.Real => number.Real.ToString(format, CultureInfo.InvariantCulture),
            _ => number.Decimal.ToString(format, CultureInfo.InvariantCulture),
        };

    /// <summary>Returns the name of a value's type for error messages.</summary>
    public static string NameOf(ScriptValue value) =>
        value.Kind switch
        {
            ValueKind.Undefined or ValueKind.Null => "null",
            ValueKind.True or ValueKind.False => "a bool",
            ValueKind.Text when value.Trait == ValueTrait.Character => "a char",
            ValueKind.Text when value.Trait == ValueTrait.Weekday => "a DayOfWeek",
            ValueKind.Text or ValueKind.EscapedText => "a string",
            ValueKind.Array => "an array",
            ValueKind.Object => "an object",
            ValueKind.Date or ValueKind.OffsetDate => "a date",
            ValueKind.TimeSpan => "a time span",
            _ => "a number",
        };
}
