using System.Globalization;
using System.Text;

namespace Rookery.Json;

/// <summary>Writes numbers as JavaScript does, independent of processor and culture.</summary>
public static class JsonNumber
{
    /// <summary>Maximum bytes of a written double.</summary>
    public const int MaxBytes = 32;

    /// <summary>Maximum bytes of a written decimal.</summary>
    public const int MaxDecimalBytes = 40;

    // Every integer below this has at most 15 digits, which a double holds exactly.
    private const double MaxExactInteger = 1e15;

    // JavaScript writes a number with more digits before the point with an exponent.
    private const int MaxDigitsBeforePoint = 21;

    // At this point (see Write) or less, the number is below 1e-6, and JavaScript writes an exponent.
    private const int MinPoint = -6;

    /// <summary>
    /// Returns the shortest text that reads back as the number, with an exponent from 1e21 on and below 1e-6.
    /// </summary>
    public static string Format(double value)
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        return Encoding.ASCII.GetString(text[..Format(value, text)]);
    }

    /// <summary>Writes the shortest text that reads back as the number and returns its length in bytes.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    public static int Format(double value, Span<byte> destination)
    {
        if (!double.IsFinite(value))
        {
            return Copy(
                double.IsNaN(value) ? "NaN"u8
                    : value > 0 ? "Infinity"u8
                    : "-Infinity"u8,
                destination
            );
        }

        if (Math.Abs(value) < MaxExactInteger && value == Math.Truncate(value))
        {
            ((long)value).TryFormat(destination, out int length, default, CultureInfo.InvariantCulture);
            return length;
        }

        Span<byte> shortest = stackalloc byte[MaxBytes];
        value.TryFormat(shortest, out int written, "R", CultureInfo.InvariantCulture);
        Span<byte> digits = stackalloc byte[MaxBytes];
        int count = ReadDigits(shortest[..written], digits, out int point);
        return Write(value < 0, digits[..count], point, destination);
    }

    /// <summary>Writes a decimal other than 0, with all its digits, and returns its length in bytes.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">At least <see cref="MaxDecimalBytes"/> bytes.</param>
    public static int Format(decimal value, Span<byte> destination)
    {
        Span<byte> text = stackalloc byte[MaxBytes];
        value.TryFormat(text, out int written, default, CultureInfo.InvariantCulture);
        Span<byte> digits = stackalloc byte[MaxBytes];
        int count = ReadDigits(text[..written], digits, out int point);
        return Write(value < 0, digits[..count], point, destination);
    }

    /// <summary>
    /// Writes a number given by its digits, in the form of a double, and returns its length in bytes.
    /// </summary>
    /// <param name="isNegative">Whether the number is negative.</param>
    /// <param name="digits">The digits as characters, without leading or trailing zeros.</param>
    /// <param name="point">The number of digits before the decimal point. If it is 0 or negative, its absolute value is
    /// the number of zeros that follow the point.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes more than the digits.</param>
    public static int Write(bool isNegative, ReadOnlySpan<byte> digits, int point, Span<byte> destination)
    {
        int at = 0;
        if (isNegative)
        {
            destination[at++] = (byte)'-';
        }

        return at + WriteUnsigned(digits, point, destination[at..]);
    }

    /// <summary>
    /// Reads the digits of a number in .NET's format, without leading or trailing zeros. <paramref name="point"/> is
    /// the number of digits before the decimal point.
    /// </summary>
    private static int ReadDigits(ReadOnlySpan<byte> text, Span<byte> digits, out int point)
    {
        int count = 0;
        int exponent = 0;
        int digitsBeforePoint = -1;
        for (int at = 0; at < text.Length; at++)
        {
            byte next = text[at];
            if (next == '.')
            {
                digitsBeforePoint = count;
            }
            else if (next == 'E')
            {
                exponent = int.Parse(text[(at + 1)..], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
                break;
            }
            else if (next != '-')
            {
                digits[count++] = next;
            }
        }

        point = (digitsBeforePoint < 0 ? count : digitsBeforePoint) + exponent;
        int zeros = 0;
        while (zeros < count - 1 && digits[zeros] == '0')
        {
            zeros++;
        }

        digits[zeros..count].CopyTo(digits);
        count -= zeros;
        point -= zeros;
        while (count > 1 && digits[count - 1] == '0')
        {
            count--;
        }

        return count;
    }

    // Writes a number without its sign.
    private static int WriteUnsigned(ReadOnlySpan<byte> digits, int point, Span<byte> destination)
    {
        int count = digits.Length;
        if (point is > 0 and <= MaxDigitsBeforePoint)
        {
            if (count <= point)
            {
                digits.CopyTo(destination);
                destination[count..point].Fill((byte)'0');
                return point;
            }

            digits[..point].CopyTo(destination);
            destination[point] = (byte)'.';
            digits[point..].CopyTo(destination[(point + 1)..]);
            return count + 1;
        }

        if (point is > MinPoint and <= 0)
        {
            int zerosAfterPoint = -point;
            int at = Copy("0.0000000"u8[..(2 + zerosAfterPoint)], destination);
            digits.CopyTo(destination[at..]);
            return at + count;
        }

        int length = 0;
        destination[length++] = digits[0];
        if (count > 1)
        {
            destination[length++] = (byte)'.';
            digits[1..].CopyTo(destination[length..]);
            length += count - 1;
        }

        destination[length++] = (byte)'e';
        destination[length++] = point > 0 ? (byte)'+' : (byte)'-';
        Math.Abs(point - 1).TryFormat(destination[length..], out int written, default, CultureInfo.InvariantCulture);
        return length + written;
    }

    private static int Copy(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        text.CopyTo(destination);
        return text.Length;
    }
}
