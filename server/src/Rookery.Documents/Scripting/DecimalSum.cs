using System.Globalization;

namespace Rookery.Documents.Scripting;

/// <summary>Adds numbers by the digits that they are written with.</summary>
internal static class DecimalSum
{
    /// <summary>Bytes that <see cref="Write"/> needs.</summary>
    public const int MostBytes = 32;

    // A double keeps 15 digits of any decimal.
    private const double Most = 1e15;

    // So many digits any decimal holds, and the sum of two such numbers is no larger than a decimal can be.
    private const int MostDigits = 28;

    // Dividing by it takes away zeros behind the last digit.
    private const decimal One = 1.0000000000000000000000000000m;

    /// <summary>
    /// The double next to the sum of two numbers as decimals of 15 digits; of large and of very small ones their sum as
    /// doubles.
    /// </summary>
    public static double Add(double left, double right) =>
        (!double.IsInteger(left) || !double.IsInteger(right))
        && TryRead(left, out decimal first)
        && TryRead(right, out decimal second)
            ? (double)(first + second)
            : left + right;

    /// <summary>Reads the digits of a double; false where it may have more than 15, or a decimal not all.</summary>
    public static bool TryRead(double number, out decimal value)
    {
        bool isRead = Math.Abs(number) is 0 or (>= 1 / Most and < Most);
        value = isRead ? (decimal)number : 0;
        return isRead;
    }

    /// <summary>Reads the digits of a number of JSON; false where a decimal has not all of them.</summary>
    public static bool TryRead(ReadOnlySpan<byte> json, out decimal value)
    {
        value = 0;
        return json.Length <= MostBytes
            && json.IndexOfAny("eE"u8) < 0
            && DigitsIn(json) <= MostDigits
            && decimal.TryParse(json, NumberStyles.Float, CultureInfo.InvariantCulture, out value);
    }

    private static int DigitsIn(ReadOnlySpan<byte> json)
    {
        int digits = 0;
        foreach (byte character in json)
        {
            digits += char.IsAsciiDigit((char)character) ? 1 : 0;
        }

        return digits;
    }

    /// <summary>Adds; false where a decimal has not all digits of the sum.</summary>
    public static bool TryAdd(decimal left, decimal right, out decimal sum)
    {
        sum = left + right;
        return sum.Scale == Math.Max(left.Scale, right.Scale);
    }

    /// <summary>Whether a double has all digits.</summary>
    public static bool IsDouble(decimal number) => Math.Abs(number) < 1e15m && (decimal)(double)number == number;

    /// <summary>Writes a number as JSON; returns its bytes.</summary>
    public static int Write(decimal number, Span<byte> destination)
    {
        (number / One).TryFormat(destination, out int length, default, CultureInfo.InvariantCulture);
        return length;
    }
}
