using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Values;

namespace Rookery.Indexing.Values;

/// <summary>
/// A property of arrays, strings and dates that queries of RavenDB's clients use like a member: <c>lines.Count</c>,
/// <c>name.Length</c>, <c>at.Year</c>. A stored member of the same name takes precedence.
/// </summary>
internal sealed class PseudoMember
{
    /// <summary>Maximum bytes of a value.</summary>
    public const int MaxBytes = CSharpDate.MaxBytes + 2;

    private const string Count = "Count";
    private const string Length = "Length";

    private static readonly string[] Parts =
    [
        Count,
        Length,
        "Year",
        "Month",
        "Day",
        "Hour",
        "Minute",
        "Second",
        "Millisecond",
        "Ticks",
        "DayOfYear",
        "DayOfWeek",
        "Date",
    ];

    // The name as the path spells it.
    private readonly byte[] _name;

    // The same name as in Parts.
    private readonly string _part;

    private PseudoMember(string name, string part) => (_name, _part) = (Encoding.UTF8.GetBytes(name), part);

    /// <summary>Returns the property of a name; null if there is none.</summary>
    public static PseudoMember? Of(string name) =>
        Parts.FirstOrDefault(part => string.Equals(part, name, StringComparison.OrdinalIgnoreCase)) is { } known
            ? new PseudoMember(name, known)
            : null;

    /// <summary>
    /// Writes the property of a value as JSON. Returns its length; 0 if the value has no such property.
    /// </summary>
    /// <param name="json">The JSON that contains the value.</param>
    /// <param name="at">The offset of the value.</param>
    /// <param name="destination">Receives the JSON; at least <see cref="MaxBytes"/> bytes.</param>
    public int Write(ReadOnlySpan<byte> json, int at, Span<byte> destination)
    {
        if (json[at] == (byte)'[')
        {
            return _part is Count or Length ? WriteCount(json, at, destination) : 0;
        }

        if (json[at] != (byte)'"')
        {
            return 0;
        }

        var text = json[(at + 1)..(StoredJson.SkipValue(json, at) - 1)];
        if (_part is Length)
        {
            return Write(LengthOf(text), destination);
        }

        if (_part is not Count && CSharpDate.TryParse(text, out var date))
        {
            return WritePart(date, destination);
        }

        return 0;
    }

    /// <summary>
    /// Writes the number of elements of an array. Writes nothing if an element is an object that has a member of this
    /// name, because a stored member takes precedence. If the name begins in lower case, writes nothing if any element
    /// is an object: such a name is more likely a member of the elements, and its meaning must not depend on which
    /// documents have that member (docs/reference/rql.md, rule 1).
    /// </summary>
    private int WriteCount(ReadOnlySpan<byte> json, int at, Span<byte> destination)
    {
        bool isLowerCase = char.IsAsciiLetterLower((char)_name[0]);
        int count = 0;
        for (at++; json[at] != (byte)']'; at = StoredJson.SkipValue(json, at))
        {
            at = json[at] == (byte)',' ? at + 1 : at;
            if (json[at] == (byte)'{' && (isLowerCase || StoredJson.TryFindMember(json, at, _name, out _, out _)))
            {
                return 0;
            }

            count++;
        }

        return Write(count, destination);
    }

    private int WritePart(CSharpDate date, Span<byte> destination)
    {
        var value = date.Value;
        switch (_part)
        {
            case "Date":
                destination[0] = (byte)'"';
                int length =
                    1
                    + new CSharpDate(
                        value.Date.Ticks,
                        date.Form == DateForm.Utc ? DateForm.Utc : DateForm.Unspecified
                    ).Write(destination[1..]);
                destination[length] = (byte)'"';
                return length + 1;
            case "DayOfWeek":
                return Encoding.ASCII.GetBytes($"\"{value.DayOfWeek}\"", destination);
            default:
                return Write(
                    _part switch
                    {
                        "Year" => value.Year,
                        "Month" => value.Month,
                        "Day" => value.Day,
                        "Hour" => value.Hour,
                        "Minute" => value.Minute,
                        "Second" => value.Second,
                        "Millisecond" => value.Millisecond,
                        "DayOfYear" => value.DayOfYear,
                        "Ticks" => value.Ticks,
                        _ => throw new InvariantViolationException("every part of a date is written"),
                    },
                    destination
                );
        }
    }

    private static int Write(long number, Span<byte> destination)
    {
        number.TryFormat(destination, out int length, default, CultureInfo.InvariantCulture);
        return length;
    }

    /// <summary>Returns the length of a JSON string's content in UTF-16 units.</summary>
    private static int LengthOf(ReadOnlySpan<byte> text)
    {
        const int UnicodeEscape = 6,
            OtherEscape = 2;
        int length = 0;
        while (text.IndexOf((byte)'\\') is >= 0 and int plain)
        {
            length += Utf16Text.Length(text[..plain]) + 1;
            text = text[(plain + (text[plain + 1] == (byte)'u' ? UnicodeEscape : OtherEscape))..];
        }

        return length + Utf16Text.Length(text);
    }
}
