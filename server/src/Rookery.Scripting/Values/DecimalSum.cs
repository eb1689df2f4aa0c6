using System.Globalization;
using Rookery.Json;

namespace Rookery.Scripting.Values;

/// <summary>
/// Adds numbers by the digits of their text, as decimals. A decimal holds all digits of nearly all numbers. For the
/// others, callers use <see cref="ExactSum"/>.
/// </summary>
internal static class DecimalSum
{
    // A longer text may have more digits than a decimal can hold.
    private const int MaxBytes = 32;

    // Up to this value, a double holds any decimal of 15 digits.
    private const double MaxMagnitude = 1e15;

    // A decimal holds any number of up to this many digits, and the sum of two of them.
    private const int MaxDigits = 28;

    /// <summary>
    /// Adds two numbers as decimals of 15 digits, and returns the nearest double. Integers and very large or small
    /// numbers are added as doubles.
    /// </summary>
    public static double Add(double left, double right) =>
        (!double.IsInteger(left) || !double.IsInteger(right))
        && TryRead(left, out decimal first)
        && TryRead(right, out decimal second)
            ? ToDouble(first + second)
            : left + right;

    /// <summary>Reads a double as a decimal of 15 digits; returns false if its digits may not fit.</summary>
    public static bool TryRead(double number, out decimal value)
    {
        bool isRead = Math.Abs(number) is 0 or (>= 1 / MaxMagnitude and < MaxMagnitude);
        value = isRead ? (decimal)number : 0;
        return isRead;
    }

    /// <summary>Reads a JSON number as a decimal; returns false if a decimal may not hold all its digits.</summary>
    public static bool TryRead(ReadOnlySpan<byte> json, out decimal value)
    {
        value = 0;
        return json.Length <= MaxBytes
            && json.IndexOfAny("eE"u8) < 0
            && DigitsIn(json) <= MaxDigits
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

    /// <summary>Adds; returns false if a decimal cannot hold all digits of the sum.</summary>
    public static bool TryAdd(decimal left, decimal right, out decimal sum)
    {
        sum = left + right;
        return sum.Scale == Math.Max(left.Scale, right.Scale);
    }

    /// <summary>Returns whether a number is an integer that a double holds exactly.</summary>
    public static bool IsShortWhole(decimal number) => Math.Abs(number) < 1e15m && decimal.IsInteger(number);

    // A cast is not used, because for 1 in 70 sums its result is not the nearest double: 1021.5915744293437m becomes
    // 1021.5915744293436.
    private static double ToDouble(decimal number)
    {
        if (IsShortWhole(number))
        {
            return (long)number;
        }

        Span<byte> text = stackalloc byte[MaxBytes];
        number.TryFormat(text, out int length, default, CultureInfo.InvariantCulture);
        return double.Parse(text[..length], NumberStyles.Float, CultureInfo.InvariantCulture);
    }
}
