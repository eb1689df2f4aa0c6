using System.Globalization;
using Rookery.Json;

namespace Rookery.Scripting.Values;

/// <summary>
/// Adds numbers by the digits that they are written with, as decimals, which have those of nearly all numbers: what
/// they have not takes an <see cref="ExactSum"/>.
/// </summary>
internal static class DecimalSum
{
    // A text of more bytes may have more digits than a decimal.
    private const int MostBytes = 32;

    // A double keeps 15 digits of any decimal.
    private const double Most = 1e15;

    // So many digits any decimal holds, and the sum of two such numbers is no larger than a decimal can be.
    private const int MostDigits = 28;

    /// <summary>
    /// The double next to the sum of two numbers as decimals of 15 digits; of large and of very small ones their sum as
    /// doubles.
    /// </summary>
    public static double Add(double left, double right) =>
        (!double.IsInteger(left) || !double.IsInteger(right))
        && TryRead(left, out decimal first)
        && TryRead(right, out decimal second)
            ? ToDouble(first + second)
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

    /// <summary>Whether it is a whole number with so few digits that a double has all of them.</summary>
    public static bool IsShortWhole(decimal number) => Math.Abs(number) < 1e15m && decimal.IsInteger(number);

    // A cast gives another double than the next one for 1 in 70 sums: of 1021.5915744293437m that of
    // 1021.5915744293436.
    private static double ToDouble(decimal number)
    {
        if (IsShortWhole(number))
        {
            return (long)number;
        }

        Span<byte> text = stackalloc byte[MostBytes];
        number.TryFormat(text, out int length, default, CultureInfo.InvariantCulture);
        return double.Parse(text[..length], NumberStyles.Float, CultureInfo.InvariantCulture);
    }
}
