using System.Buffers.Text;

namespace Rookery.Scripting.Values;

/// <summary>
/// Calculates with dates of JavaScript (ECMA-262, Date Objects): milliseconds since 1970 UTC, or NaN. The local time
/// zone is UTC, so that all members of a cluster have the same results. No calendar or culture of .NET is used.
/// </summary>
internal static class Moment
{
    /// <summary>Maximum bytes of a written date.</summary>
    public const int MaxBytes = 64;

    private const double MaxMilliseconds = 8.64e15;
    private const long MillisecondsPerDay = 86_400_000;
    private const long EpochTicks = 621_355_968_000_000_000;
    private const int DaysPerEra = 146_097; // of 400 years
    private const int DaysToEpoch = 719_468; // from March 1st of year 0

    private static ReadOnlySpan<byte> Weekdays => "SunMonTueWedThuFriSat"u8;

    private static ReadOnlySpan<byte> Months => "JanFebMarAprMayJunJulAugSepOctNovDec"u8;

    /// <summary>Returns the milliseconds of UTC ticks of .NET.</summary>
    public static double OfTicks(long ticks) => Math.Floor((ticks - EpochTicks) / (double)TimeSpan.TicksPerMillisecond);

    /// <summary>Returns a whole number of milliseconds that a date can have; NaN for others.</summary>
    public static double Clip(double milliseconds) =>
        Math.Abs(milliseconds) <= MaxMilliseconds ? Math.Truncate(milliseconds) + 0 : double.NaN;

    /// <summary>
    /// Returns the milliseconds of a year, month from 0, day, hour, minute, second and millisecond; each may be beyond
    /// its range. NaN if one is not finite or the date does not exist.
    /// </summary>
    public static double Of(ReadOnlySpan<double> parts)
    {
        const double MaxPart = 1e15;
        foreach (double part in parts)
        {
            if (!(Math.Abs(part) <= MaxPart))
            {
                return double.NaN;
            }
        }

        double month = Math.Truncate(parts[1]);
        double year = Math.Truncate(parts[0]) + Math.Floor(month / 12);
        if (Math.Abs(year) > 400_000)
        {
            return double.NaN;
        }

        long day = DaysOf((long)year, (int)(month - (Math.Floor(month / 12) * 12)) + 1, day: 1);
        double days = day + Math.Truncate(parts[2]) - 1;
        double time =
            (Math.Truncate(parts[3]) * 3_600_000)
            + (Math.Truncate(parts[4]) * 60_000)
            + (Math.Truncate(parts[5]) * 1000)
            + Math.Truncate(parts[6]);
        return Clip((days * MillisecondsPerDay) + time);
    }

    /// <summary>
    /// Writes the parts of a date in the order of <see cref="Of"/>, and its day of the week from Sunday, 0.
    /// </summary>
    /// <param name="milliseconds">The date, not NaN.</param>
    /// <param name="parts">Eight numbers.</param>
    public static void Split(double milliseconds, Span<double> parts)
    {
        long time = (long)milliseconds;
        long days = Math.DivRem(time, MillisecondsPerDay, out long rest);
        if (rest < 0)
        {
            days--;
            rest += MillisecondsPerDay;
        }

        // Howard Hinnant, chrono-Compatible Low-Level Date Algorithms: civil_from_days.
        long shifted = days + DaysToEpoch;
        long era = (shifted >= 0 ? shifted : shifted - (DaysPerEra - 1)) / DaysPerEra;
        long dayOfEra = shifted - (era * DaysPerEra);
        long yearOfEra = (dayOfEra - (dayOfEra / 1460) + (dayOfEra / 36_524) - (dayOfEra / 146_096)) / 365;
        long dayOfYear = dayOfEra - ((365 * yearOfEra) + (yearOfEra / 4) - (yearOfEra / 100));
        long shiftedMonth = ((5 * dayOfYear) + 2) / 153;
        long month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
        parts[0] = yearOfEra + (era * 400) + (month <= 2 ? 1 : 0);
        parts[1] = month - 1;
        parts[2] = dayOfYear - (((153 * shiftedMonth) + 2) / 5) + 1;
        parts[3] = rest / 3_600_000;
        parts[4] = rest / 60_000 % 60;
        parts[5] = rest / 1000 % 60;
        parts[6] = rest % 1000;
        parts[7] = (((days + 4) % 7) + 7) % 7;
    }

    /// <summary>
    /// Reads a date in the form of ISO 8601 that JavaScript writes and RavenDB stores. Without an offset it is UTC.
    /// </summary>
    /// <returns>False if the text has another form. The date may still be NaN, as on 2026-02-30.</returns>
    public static bool TryParse(ReadOnlySpan<byte> text, out double milliseconds)
    {
        Span<double> parts = [0, 1, 1, 0, 0, 0, 0];
        milliseconds = double.NaN;
        int sign =
            text.IsEmpty ? 0
            : text[0] == '+' ? 1
            : text[0] == '-' ? -1
            : 0;
        if (!TryReadNumber(ref text, sign == 0 ? 4 : 6, skipped: sign == 0 ? 0 : 1, out parts[0]))
        {
            return false;
        }

        parts[0] *= sign == 0 ? 1 : sign;
        if (TryReadAfter((byte)'-', ref text, out parts[1], 1))
        {
            TryReadAfter((byte)'-', ref text, out parts[2], 1);
        }

        double offset = 0;
        if (!text.IsEmpty && text[0] is (byte)'T' or (byte)'t' or (byte)' ')
        {
            text = text[1..];
            if (!TryReadTime(ref text, parts) || !TryReadOffset(ref text, out offset))
            {
                return false;
            }
        }

        bool isInRange =
            parts[1] is >= 1 and <= 12
            && parts[2] is >= 1 and <= 31 // as in V8, in any month
            && parts[3] <= 24
            && (parts[3] < 24 || parts[4] + parts[5] + parts[6] == 0)
            && parts[4] <= 59
            && parts[5] <= 59;
        parts[1]--;
        milliseconds = isInRange ? Clip(Of(parts) - offset) : double.NaN;
        return text.IsEmpty;
    }

    /// <summary>Writes a date as <c>2026-11-30T05:26:17.123Z</c>, with three or seven digits of the second.</summary>
    /// <returns>Bytes written.</returns>
    public static int WriteIso(double milliseconds, int digits, Span<byte> destination)
    {
        Span<double> parts = stackalloc double[8];
        Split(milliseconds, parts);
        int at = 0;
        bool isShortYear = parts[0] is >= 0 and <= 9999;
        if (!isShortYear)
        {
            destination[at++] = parts[0] < 0 ? (byte)'-' : (byte)'+';
        }

        Write(destination, ref at, (long)Math.Abs(parts[0]), isShortYear ? 4 : 6);
        Write(destination, ref at, (byte)'-', (long)parts[1] + 1);
        Write(destination, ref at, (byte)'-', (long)parts[2]);
        Write(destination, ref at, (byte)'T', (long)parts[3]);
        Write(destination, ref at, (byte)':', (long)parts[4]);
        Write(destination, ref at, (byte)':', (long)parts[5]);
        destination[at++] = (byte)'.';
        Write(destination, ref at, (long)parts[6], 3);
        for (int digit = 3; digit < digits; digit++)
        {
            destination[at++] = (byte)'0';
        }

        destination[at++] = (byte)'Z';
        return at;
    }

    /// <summary>Writes a date for people, as JavaScript does in the time zone UTC.</summary>
    /// <returns>Bytes written.</returns>
    public static int Write(double milliseconds, MomentForm form, Span<byte> destination)
    {
        if (double.IsNaN(milliseconds))
        {
            "Invalid Date"u8.CopyTo(destination);
            return 12;
        }

        Span<double> parts = stackalloc double[8];
        Split(milliseconds, parts);
        int at = 0;
        if (form != MomentForm.Time)
        {
            Append(destination, ref at, Weekdays.Slice(3 * (int)parts[7], 3));
            Append(destination, ref at, form == MomentForm.Utc ? ", "u8 : " "u8);
            if (form == MomentForm.Utc)
            {
                Write(destination, ref at, (long)parts[2], 2);
                Append(destination, ref at, " "u8);
            }

            Append(destination, ref at, Months.Slice(3 * (int)parts[1], 3));
            Append(destination, ref at, " "u8);
            if (form != MomentForm.Utc)
            {
                Write(destination, ref at, (long)parts[2], 2);
                Append(destination, ref at, " "u8);
            }

            Append(destination, ref at, parts[0] < 0 ? "-"u8 : default);
            Write(destination, ref at, (long)Math.Abs(parts[0]), parts[0] < 0 ? 6 : 4);
            if (form == MomentForm.Day)
            {
                return at;
            }

            Append(destination, ref at, " "u8);
        }

        Write(destination, ref at, (long)parts[3], 2);
        Write(destination, ref at, (byte)':', (long)parts[4]);
        Write(destination, ref at, (byte)':', (long)parts[5]);
        Append(destination, ref at, form == MomentForm.Utc ? " GMT"u8 : " GMT+0000 (Coordinated Universal Time)"u8);
        return at;
    }

    private static long DaysOf(long year, int month, int day)
    {
        // Howard Hinnant: days_from_civil. The year begins in March.
        year -= month <= 2 ? 1 : 0;
        long era = (year >= 0 ? year : year - 399) / 400;
        long yearOfEra = year - (era * 400);
        long dayOfYear = (((153 * (month + (month > 2 ? -3 : 9))) + 2) / 5) + day - 1;
        long dayOfEra = (yearOfEra * 365) + (yearOfEra / 4) - (yearOfEra / 100) + dayOfYear;
        return (era * DaysPerEra) + dayOfEra - DaysToEpoch;
    }

    private static bool TryReadNumber(ref ReadOnlySpan<byte> text, int digits, int skipped, out double number)
    {
        number = 0;
        if (
            text.Length < skipped + digits
            || text.Slice(skipped, digits).IndexOfAnyExceptInRange((byte)'0', (byte)'9') >= 0
        )
        {
            return false;
        }

        foreach (byte digit in text.Slice(skipped, digits))
        {
            number = (number * 10) + (digit - '0');
        }

        text = text[(skipped + digits)..];
        return true;
    }

    // Reads two digits after a separator. Without the separator, the number is the given one.
    private static bool TryReadAfter(byte separator, ref ReadOnlySpan<byte> text, out double number, double missing)
    {
        number = missing;
        bool isRead =
            !text.IsEmpty && text[0] == separator && TryReadNumber(ref text, digits: 2, skipped: 1, out number);
        number = isRead ? number : missing;
        return isRead;
    }

    private static bool TryReadTime(ref ReadOnlySpan<byte> text, scoped Span<double> parts)
    {
        if (
            !TryReadNumber(ref text, digits: 2, skipped: 0, out parts[3])
            || !TryReadAfter((byte)':', ref text, out parts[4], 0)
        )
        {
            return false;
        }

        if (!TryReadAfter((byte)':', ref text, out parts[5], 0) || text.IsEmpty || text[0] != '.')
        {
            return true;
        }

        int end = text[1..].IndexOfAnyExceptInRange((byte)'0', (byte)'9');
        var fraction = text.Slice(1, end < 0 ? text.Length - 1 : end);
        text = text[(1 + fraction.Length)..];
        for (int digit = 0; digit < 3; digit++)
        {
            parts[6] = (parts[6] * 10) + (digit < fraction.Length ? fraction[digit] - '0' : 0);
        }

        return !fraction.IsEmpty;
    }

    private static bool TryReadOffset(ref ReadOnlySpan<byte> text, out double milliseconds)
    {
        milliseconds = 0;
        if (text.IsEmpty)
        {
            return true;
        }

        if (text[0] is (byte)'Z' or (byte)'z')
        {
            text = text[1..];
            return true;
        }

        int sign =
            text[0] == '+' ? 1
            : text[0] == '-' ? -1
            : 0;
        if (sign == 0 || !TryReadNumber(ref text, digits: 2, skipped: 1, out double hours))
        {
            return false;
        }

        bool hasMinutes =
            TryReadAfter((byte)':', ref text, out double minutes, 0)
            || TryReadNumber(ref text, digits: 2, skipped: 0, out minutes);
        milliseconds = sign * ((hours * 3_600_000) + (minutes * 60_000));
        return hasMinutes;
    }

    private static void Write(Span<byte> destination, ref int at, byte separator, long number)
    {
        destination[at++] = separator;
        Write(destination, ref at, number, 2);
    }

    private static void Write(Span<byte> destination, ref int at, long number, int digits)
    {
        Utf8Formatter.TryFormat(number, destination[at..], out int written, new('D', (byte)digits));
        at += written;
    }

    private static void Append(Span<byte> destination, ref int at, ReadOnlySpan<byte> text)
    {
        text.CopyTo(destination[at..]);
        at += text.Length;
    }
}

/// <summary>The form of a date for people.</summary>
internal enum MomentForm : byte
{
    /// <summary><c>Mon Nov 30 2026 05:26:17 GMT+0000 (Coordinated Universal Time)</c>.</summary>
    Text,

    /// <summary><c>Mon Nov 30 2026</c>.</summary>
    Day,

    /// <summary><c>05:26:17 GMT+0000 (Coordinated Universal Time)</c>.</summary>
    Time,

    /// <summary><c>Mon, 30 Nov 2026 05:26:17 GMT</c>.</summary>
    Utc,
}
