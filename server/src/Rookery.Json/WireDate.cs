namespace Rookery.Json;

/// <summary>Dates in RavenDB's format: <c>2026-11-21T09:49:45.2120000Z</c>.</summary>
public static class WireDate
{
    /// <summary>Length of a written date in bytes.</summary>
    public const int Length = 28;

    private const int SecondsLength = 19;
    private const int MaxFractionDigits = 7;

    /// <summary>Writes a date with seven fractional digits and Z.</summary>
    /// <param name="destination">At least <see cref="Length"/> bytes.</param>
    /// <param name="utcTicks">Ticks since 0001-01-01 UTC.</param>
    public static void Write(Span<byte> destination, long utcTicks)
    {
        var date = new DateTime(utcTicks, DateTimeKind.Utc);
        destination = destination[..Length];
        "0000-00-00T00:00:00.0000000Z"u8.CopyTo(destination);
        (int year, int month, int day) = (date.Year, date.Month, date.Day);
        WriteDigits(destination[..4], year);
        WriteDigits(destination[5..7], month);
        WriteDigits(destination[8..10], day);
        WriteDigits(destination[11..13], date.Hour);
        WriteDigits(destination[14..16], date.Minute);
        WriteDigits(destination[17..19], date.Second);
        WriteDigits(destination[20..27], (int)(utcTicks % TimeSpan.TicksPerSecond));
    }

    /// <summary>
    /// Reads a date with up to seven fractional digits. Z or an offset may follow. Without them the date is UTC,
    /// because the log must not depend on a node's time zone.
    /// </summary>
    public static bool TryParse(ReadOnlySpan<byte> text, out long utcTicks)
    {
        utcTicks = 0;
        if (
            text.Length < SecondsLength
            || text[4] != '-'
            || text[7] != '-'
            || text[10] != 'T'
            || text[13] != ':'
            || text[16] != ':'
        )
        {
            return false;
        }

        if (
            !TryReadDigits(text[..4], out int year)
            || !TryReadDigits(text[5..7], out int month)
            || !TryReadDigits(text[8..10], out int day)
            || !TryReadDigits(text[11..13], out int hour)
            || !TryReadDigits(text[14..16], out int minute)
            || !TryReadDigits(text[17..19], out int second)
            || year < 1
            || month is < 1 or > 12
            || day < 1
            || day > DateTime.DaysInMonth(year, month)
            || hour > 23
            || minute > 59
            || second > 59
        )
        {
            return false;
        }

        ReadOnlySpan<byte> unread = text[SecondsLength..];
        if (!TryReadFraction(ref unread, out int fraction) || !TryReadOffset(unread, out long offsetTicks))
        {
            return false;
        }

        utcTicks =
            new DateTime(year, month, day, hour, minute, second, DateTimeKind.Utc).Ticks + fraction - offsetTicks;
        return utcTicks >= 0 && utcTicks <= DateTime.MaxValue.Ticks;
    }

    /// <summary>Reads the fraction of a second, if any, at the start of a text.</summary>
    /// <param name="unread">The text after the seconds; set to the text after the fraction.</param>
    /// <param name="ticks">The fraction in ticks; 0 if there is none.</param>
    /// <returns>False if a point is not followed by one to seven digits.</returns>
    public static bool TryReadFraction(ref ReadOnlySpan<byte> unread, out int ticks)
    {
        ticks = 0;
        if (unread.IsEmpty || unread[0] != '.')
        {
            return true;
        }

        int digits = unread[1..].IndexOfAnyExceptInRange((byte)'0', (byte)'9');
        digits = digits < 0 ? unread.Length - 1 : digits;
        if (digits is 0 or > MaxFractionDigits || !TryReadDigits(unread.Slice(1, digits), out ticks))
        {
            return false;
        }

        for (int digit = digits; digit < MaxFractionDigits; digit++)
        {
            ticks *= 10;
        }

        unread = unread[(digits + 1)..];
        return true;
    }

    /// <summary>Reads the time zone: nothing, Z, or an offset such as +02:00.</summary>
    private static bool TryReadOffset(ReadOnlySpan<byte> unread, out long ticks)
    {
        ticks = 0;
        if (unread.IsEmpty || (unread.Length == 1 && unread[0] == 'Z'))
        {
            return true;
        }

        if (
            unread.Length != 6
            || unread[0] is not ((byte)'+' or (byte)'-')
            || unread[3] != ':'
            || !TryReadDigits(unread[1..3], out int hours)
            || !TryReadDigits(unread[4..6], out int minutes)
            || hours > 14
            || minutes > 59
        )
        {
            return false;
        }

        long ticksOfOffset = ((hours * 60L) + minutes) * TimeSpan.TicksPerMinute;
        ticks = unread[0] == '-' ? -ticksOfOffset : ticksOfOffset;
        return true;
    }

    private static bool TryReadDigits(ReadOnlySpan<byte> digits, out int value)
    {
        value = 0;
        foreach (byte digit in digits)
        {
            if (digit is < (byte)'0' or > (byte)'9')
            {
                return false;
            }

            value = (value * 10) + (digit - '0');
        }

        return true;
    }

    private static void WriteDigits(Span<byte> destination, int value)
    {
        for (int at = destination.Length - 1; at >= 0; at--)
        {
            (value, int digit) = Math.DivRem(value, 10);
            destination[at] = (byte)('0' + digit);
        }
    }
}
