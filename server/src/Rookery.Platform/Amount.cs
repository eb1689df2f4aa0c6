namespace Rookery.Platform;

/// <summary>
/// Formats amounts for people in commands, alerts, logs and HTTP responses. The dashboard follows the same rules in
/// format.ts.
/// </summary>
public static class Amount
{
    private static readonly string[] Units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

    /// <summary>Formats a number of bytes: "17 B", "3.4 MiB".</summary>
    public static string Bytes(double bytes)
    {
        double amount = Math.Abs(bytes);
        int unit = 0;

        // A value that would be rounded to 1024 is shown in the next unit.
        while (amount >= 1023.5 && unit < Units.Length - 1)
        {
            amount /= 1024;
            unit++;
        }

        // A value that would be rounded to 100.0 has no fraction.
        string number = unit == 0 || amount >= 99.95 ? $"{amount:0}" : $"{amount:0.0}";
        string sign = bytes < 0 && number is not "0" ? "−" : string.Empty;
        return $"{sign}{number} {Units[unit]}";
    }

    /// <summary>
    /// Formats a number of bytes and the limit that it exceeds. If both would read the same, formats them as exact
    /// numbers of bytes.
    /// </summary>
    public static (string Bytes, string Limit) BytesOver(long bytes, long limit)
    {
        var rounded = (Bytes: Bytes(bytes), Limit: Bytes(limit));
        return string.Equals(rounded.Bytes, rounded.Limit, StringComparison.Ordinal)
            ? ($"{Number(bytes)} B", $"{Number(limit)} B")
            : rounded;
    }

    /// <summary>Formats a number: "12", "3,400", "0.5".</summary>
    public static string Number(double number) =>
        number is > -10 and < 10 && number != Math.Floor(number) ? $"{number:0.0}" : $"{number:#,0}";

    /// <summary>Formats a duration in microseconds: "350 µs", "4.2 ms", "1.25 s".</summary>
    public static string Microseconds(double microseconds)
    {
        if (microseconds < 1000)
        {
            return $"{microseconds:0} µs";
        }

        if (microseconds < 1_000_000)
        {
            return $"{microseconds / 1000:0.0} ms";
        }

        return $"{microseconds / 1_000_000:0.00} s";
    }

    /// <summary>Formats a duration: "42 s", "3 min 20 s", "2 h 5 min", "4 d 3 h".</summary>
    public static string Time(TimeSpan time)
    {
        if (time.TotalMinutes < 1)
        {
            return $"{Math.Ceiling(time.TotalSeconds):0} s";
        }

        if (time.TotalHours < 1)
        {
            return $"{time.Minutes} min {time.Seconds} s";
        }

        if (time.TotalDays < 1)
        {
            return $"{time.Hours} h {time.Minutes} min";
        }

        return $"{time.Days} d {time.Hours} h";
    }

    /// <summary>
    /// Formats a count with its noun: "1 document", "3,000 documents". The plural is the singular with an "s" unless
    /// <paramref name="many"/> is given.
    /// </summary>
    public static string Of(long number, string one, string? many = null) =>
        $"{Number(number)} {(number == 1 ? one : many ?? one + "s")}";
}
