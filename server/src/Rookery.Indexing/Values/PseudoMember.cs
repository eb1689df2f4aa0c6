using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Scripting.Values;

namespace Rookery.Indexing.Values;

/// <summary>
/// A property of arrays, strings, dates and time spans that queries of RavenDB's clients use like a member:
/// <c>lines.Count</c>, <c>name.Length</c>, <c>at.Year</c>, <c>took.TotalHours</c>. A stored member
/// of the same name takes precedence.
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

    // Names that version 3 of the content of automatic indexes added.
    private static readonly string[] LaterParts =
    [
        "Microsecond",
        "Nanosecond",
        "TimeOfDay",
        "Kind",
        "DateTime",
        "UtcDateTime",
        "UtcTicks",
        "Offset",
        "TotalOffsetMinutes",
        "Days",
        "Hours",
        "Minutes",
        "Seconds",
        "Milliseconds",
        "Microseconds",
        "Nanoseconds",
        "TotalDays",
        "TotalHours",
        "TotalMinutes",
        "TotalSeconds",
        "TotalMilliseconds",
        "TotalMicroseconds",
        "TotalNanoseconds",
    ];

    // The name as the path spells it.
    private readonly byte[] _name;

    // The name as Parts or LaterParts spells it.
    private readonly string _part;

    private PseudoMember(string name, string part) => (_name, _part) = (Encoding.UTF8.GetBytes(name), part);

    /// <summary>Returns the property of a name; null if there is none.</summary>
    public static PseudoMember? Of(string name) =>
        Parts.Concat(LaterParts).FirstOrDefault(part => string.Equals(part, name, StringComparison.OrdinalIgnoreCase))
            is { } known
            ? new PseudoMember(name, known)
            : null;

    /// <summary>
    /// Returns the lowest version of an automatic index's content that has values for a path: 1 if the path ends in no
    /// property, 2 or 3 for a property, by the version that introduced it.
    /// </summary>
    public static int ContentVersionOf(IReadOnlyList<string> path)
    {
        if (path.Count < 2 || Of(path[^1]) is not { } last)
        {
            return 1;
        }

        bool isLater = Array.IndexOf(LaterParts, last._part) >= 0 || (path.Count > 2 && Of(path[^2]) is not null);
        return isLater ? 3 : 2;
    }

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

        if (_part is Count)
        {
            return 0;
        }

        if (CSharpDate.TryParse(text, out var date))
        {
            return WritePart(date, destination);
        }

        return CSharpDate.TryParseSpan(text, out long ticks) ? WritePart(new TimeSpan(ticks), destination) : 0;
    }

    /// <summary>
    /// Writes the number of elements of an array. Writes nothing if an element is an object that has a member of this
    /// name, because a stored member takes precedence. A name in lower case is more likely a member of the elements,
    /// and its meaning must not differ between documents with and without that member. So for such a name, writes
    /// nothing if any element is an object (docs/reference/rql.md, rule 1).
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
        bool hasOffset = date.Form == DateForm.Offset;
        switch (_part)
        {
            case "Date":
                return WriteDate(
                    new CSharpDate(value.Date.Ticks, date.Form == DateForm.Utc ? DateForm.Utc : DateForm.Unspecified),
                    destination
                );
            case "DateTime" when hasOffset:
                return WriteDate(new CSharpDate(date.Ticks, DateForm.Unspecified), destination);
            case "UtcDateTime" when hasOffset && IsInRange(date.UtcTicks):
                return WriteDate(new CSharpDate(date.UtcTicks, DateForm.Utc), destination);
            case "TimeOfDay":
                return Write(value.TimeOfDay, destination);
            case "Offset" when hasOffset:
                return Write(new TimeSpan(date.Offset), destination);
            case "DayOfWeek":
                return Encoding.ASCII.GetBytes($"\"{value.DayOfWeek}\"", destination);
            case "Kind" when !hasOffset:
                return Encoding.ASCII.GetBytes($"\"{value.Kind}\"", destination);
            default:
                long? number = _part switch
                {
                    "Year" => value.Year,
                    "Month" => value.Month,
                    "Day" => value.Day,
                    "Hour" => value.Hour,
                    "Minute" => value.Minute,
                    "Second" => value.Second,
                    "Millisecond" => value.Millisecond,
                    "Microsecond" => value.Microsecond,
                    "Nanosecond" => value.Nanosecond,
                    "DayOfYear" => value.DayOfYear,
                    "Ticks" => value.Ticks,
                    "UtcTicks" when hasOffset => date.UtcTicks,
                    "TotalOffsetMinutes" when hasOffset => date.Offset / TimeSpan.TicksPerMinute,
                    _ => null,
                };
                return number is { } whole ? Write(whole, destination) : 0;
        }
    }

    private int WritePart(TimeSpan span, Span<byte> destination)
    {
        long? whole = _part switch
        {
            "Days" => span.Days,
            "Hours" => span.Hours,
            "Minutes" => span.Minutes,
            "Seconds" => span.Seconds,
            "Milliseconds" => span.Milliseconds,
            "Microseconds" => span.Microseconds,
            "Nanoseconds" => span.Nanoseconds,
            "Ticks" => span.Ticks,
            _ => null,
        };
        if (whole is { } number)
        {
            return Write(number, destination);
        }

        double? total = _part switch
        {
            "TotalDays" => span.TotalDays,
            "TotalHours" => span.TotalHours,
            "TotalMinutes" => span.TotalMinutes,
            "TotalSeconds" => span.TotalSeconds,
            "TotalMilliseconds" => span.TotalMilliseconds,
            "TotalMicroseconds" => span.TotalMicroseconds,
            "TotalNanoseconds" => span.TotalNanoseconds,
            _ => null,
        };
        int length = 0;
        _ = total?.TryFormat(destination, out length, "R", CultureInfo.InvariantCulture);
        return length;
    }

    private static bool IsInRange(long ticks) => ticks >= DateTime.MinValue.Ticks && ticks <= DateTime.MaxValue.Ticks;

    private static int WriteDate(CSharpDate date, Span<byte> destination)
    {
        destination[0] = (byte)'"';
        int length = 1 + date.Write(destination[1..]);
        destination[length] = (byte)'"';
        return length + 1;
    }

    private static int Write(TimeSpan span, Span<byte> destination)
    {
        destination[0] = (byte)'"';
        span.TryFormat(destination[1..], out int length, "c", CultureInfo.InvariantCulture);
        destination[length + 1] = (byte)'"';
        return length + 2;
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
