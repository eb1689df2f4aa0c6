using System.Buffers.Text;
using System.Globalization;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.Values;

/// <summary>The form of a C# date: its time zone, or a day without a time.</summary>
internal enum DateForm : byte
{
    /// <summary>No time zone.</summary>
    Unspecified,

    /// <summary>UTC: <c>Z</c>.</summary>
    Utc,

    /// <summary>A day without a time.</summary>
    Day,

    /// <summary>With an offset from UTC.</summary>
    Offset,
}

/// <summary>
/// A C# date, as documents write it: <c>2024-05-06T07:08:09.1234567Z</c>, with up to seven digits of fraction, and with
/// <c>Z</c>, an offset or no zone; or <c>2024-05-06</c>.
/// </summary>
/// <param name="Ticks">The ticks of the local date and time.</param>
/// <param name="Form">The form of the date.</param>
/// <param name="Offset">The ticks of the offset from UTC.</param>
internal readonly record struct CSharpDate(long Ticks, DateForm Form, long Offset = 0)
{
    /// <summary>Maximum bytes that <see cref="Write"/> writes.</summary>
    public const int MaxBytes = 33;

    private const int DayBytes = 10;
    private const int SecondBytes = 19;

    // Ticks fit into 62 bits. A packed date holds its form in the two bits above them.
    private const int FormShift = 62;

    /// <summary>The UTC ticks; a date without a zone counts as UTC.</summary>
    public long UtcTicks => Ticks - Offset;

    /// <summary>The .NET date with the same ticks.</summary>
    public DateTime Value => new(Ticks, Form == DateForm.Utc ? DateTimeKind.Utc : DateTimeKind.Unspecified);

    /// <summary>The date in eight bytes. Not for dates with an offset.</summary>
    public long Packed => unchecked((long)((ulong)Ticks | ((ulong)Form << FormShift)));

    /// <summary>Decodes <see cref="Packed"/>.</summary>
    public static CSharpDate Unpack(long packed)
    {
        ulong bits = unchecked((ulong)packed);
        return new CSharpDate((long)(bits & ((1UL << FormShift) - 1)), (DateForm)(bits >> FormShift));
    }

    /// <summary>Returns the date with other ticks.</summary>
    /// <exception cref="ScriptFailure">The ticks are before the year 1 or after the year 9999, locally or in
    /// UTC.</exception>
    public CSharpDate WithTicks(long ticks) =>
        IsTime(ticks) && IsTime(ticks - Offset)
            ? this with
            {
                Ticks = ticks,
            }
            : throw new ScriptFailure("a date is before the year 1 or after the year 9999");

    /// <summary>
    /// Reads a date. As in .NET, a text whose time is before the year 1 or after the year 9999 in UTC is none.
    /// </summary>
    public static bool TryParse(ReadOnlySpan<byte> text, out CSharpDate date)
    {
        date = default;
        if (
            text.Length < DayBytes
            || text[4] != '-'
            || text[7] != '-'
            || !TryRead(text[..4], out int year)
            || !TryRead(text[5..7], out int month)
            || !TryRead(text[8..10], out int day)
            || year < 1
            || month is < 1 or > 12
            || day < 1
            || day > DateTime.DaysInMonth(year, month)
        )
        {
            return false;
        }

        long ticks = new DateTime(year, month, day).Ticks;
        if (text.Length == DayBytes)
        {
            date = new CSharpDate(ticks, DateForm.Day);
            return true;
        }

        if (
            text.Length < SecondBytes
            || text[10] != 'T'
            || text[13] != ':'
            || text[16] != ':'
            || !TryRead(text[11..13], out int hour)
            || !TryRead(text[14..16], out int minute)
            || !TryRead(text[17..19], out int second)
            || hour > 23
            || minute > 59
            || second > 59
        )
        {
            return false;
        }

        ticks += (((((hour * 60L) + minute) * 60) + second) * TimeSpan.TicksPerSecond);
        var unread = text[SecondBytes..];
        if (
            !WireDate.TryReadFraction(ref unread, out int fraction)
            || !TryReadZone(unread, out var form, out long offset)
        )
        {
            return false;
        }

        date = new CSharpDate(ticks + fraction, form, offset);
        return IsTime(date.UtcTicks);
    }

    /// <summary>Writes the date and returns its length.</summary>
    public int Write(Span<byte> destination)
    {
        bool isWritten = new DateTime(Ticks).TryFormat(
            destination,
            out int length,
            Form == DateForm.Day ? "yyyy-MM-dd" : "yyyy-MM-ddTHH:mm:ss.fffffff",
            CultureInfo.InvariantCulture
        );
        if (Form == DateForm.Utc)
        {
            destination[length++] = (byte)'Z';
        }
        else if (Form == DateForm.Offset)
        {
            destination[length++] = (byte)(Offset < 0 ? '-' : '+');
            TimeSpan
                .FromTicks(Math.Abs(Offset))
                .TryFormat(destination[length..], out int offsetLength, "hh\\:mm", CultureInfo.InvariantCulture);
            length += offsetLength;
        }

        Invariant.Holds(isWritten, "a date takes no more bytes");
        return length;
    }

    /// <summary>
    /// Formats the date as C# does. A date without a zone is UTC where .NET would use the machine's zone.
    /// </summary>
    /// <exception cref="FormatException">The format is invalid.</exception>
    public string Format(string? format) =>
        Form switch
        {
            DateForm.Offset => new DateTimeOffset(Ticks, TimeSpan.FromTicks(Offset)).ToString(
                format,
                CultureInfo.InvariantCulture
            ),
            DateForm.Day => DateOnly.FromDateTime(Value).ToString(format, CultureInfo.InvariantCulture),
            DateForm.Unspecified when AsksForZone(format) => new DateTime(Ticks, DateTimeKind.Utc).ToString(
                format,
                CultureInfo.InvariantCulture
            ),
            _ => Value.ToString(format, CultureInfo.InvariantCulture),
        };

    private static bool AsksForZone(string? format) =>
        format is not null && (format is "U" || format.Contains('z', StringComparison.Ordinal));

    /// <summary>Reads a time span: <c>[-][days.]hh:mm:ss[.fffffff]</c>.</summary>
    public static bool TryParseSpan(ReadOnlySpan<byte> text, out long ticks)
    {
        const int MinBytes = 8;
        const int MaxSpanBytes = 26;
        ticks = 0;
        if (
            text.Length is < MinBytes or > MaxSpanBytes
            || text.Count((byte)':') != 2
            || !Utf8Parser.TryParse(text, out TimeSpan span, out int read, 'c')
            || read != text.Length
        )
        {
            return false;
        }

        ticks = span.Ticks;
        return true;
    }

    // Reads Z, an offset such as +02:00 of at most 14 hours, as in .NET, or nothing.
    private static bool TryReadZone(ReadOnlySpan<byte> zone, out DateForm form, out long offset)
    {
        const int OffsetBytes = 6;
        const int MaxOffsetMinutes = 14 * 60;
        offset = 0;
        form = zone.IsEmpty ? DateForm.Unspecified : DateForm.Utc;
        if (zone.IsEmpty || (zone.Length == 1 && zone[0] == 'Z'))
        {
            return true;
        }

        form = DateForm.Offset;
        if (
            zone.Length != OffsetBytes
            || zone[0] is not ((byte)'+' or (byte)'-')
            || zone[3] != ':'
            || !TryRead(zone[1..3], out int hours)
            || !TryRead(zone[4..6], out int minutes)
            || minutes > 59
            || (hours * 60) + minutes > MaxOffsetMinutes
        )
        {
            return false;
        }

        offset = ((hours * 60L) + minutes) * TimeSpan.TicksPerMinute * (zone[0] == '-' ? -1 : 1);
        return true;
    }

    private static bool IsTime(long ticks) => ticks >= 0 && ticks <= DateTime.MaxValue.Ticks;

    private static bool TryRead(ReadOnlySpan<byte> digits, out int value) =>
        Utf8Parser.TryParse(digits, out value, out int read)
        && read == digits.Length
        && char.IsAsciiDigit((char)digits[0]);
}
