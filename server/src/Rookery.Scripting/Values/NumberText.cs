using System.Globalization;
using System.Text;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Values;

/// <summary>
/// JavaScript's text of numbers, and its numbers of texts. The same on every processor and in every culture.
/// </summary>
internal static class NumberText
{
    /// <summary>Bytes that a number's text takes at most.</summary>
    public const int MostBytes = 32;

    /// <summary>Bytes that a decimal's text takes at most.</summary>
    public const int MostDecimalBytes = 40;

    /// <summary>Digits behind the point that <see cref="FormatFixed"/> writes at most.</summary>
    public const int MostFixedDigits = 50;

    /// <summary>Bytes that <see cref="FormatFixed"/> needs.</summary>
    public const int MostFixedBytes = 128;

    /// <summary>
    /// The text of a number: the shortest that reads back as it, with an exponent from 1e21 and below 1e-6.
    /// </summary>
    public static string Format(double value)
    {
        Span<byte> text = stackalloc byte[MostBytes];
        return Encoding.ASCII.GetString(text[..Format(value, text)]);
    }

    /// <summary>Writes the text of a number; returns its bytes.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">At least <see cref="MostBytes"/> bytes.</param>
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

        if (Math.Abs(value) < 1e15 && value == Math.Truncate(value))
        {
            ((long)value).TryFormat(destination, out int length, default, CultureInfo.InvariantCulture);
            return length;
        }

        Span<byte> shortest = stackalloc byte[MostBytes];
        value.TryFormat(shortest, out int written, "R", CultureInfo.InvariantCulture);
        Span<byte> digits = stackalloc byte[MostBytes];
        int count = ReadDigits(shortest[..written], digits, out int point);
        return Write(value < 0, digits[..count], point, destination);
    }

    /// <summary>Writes the text of a decimal but 0, with all its digits; returns its bytes.</summary>
    /// <param name="value">The number.</param>
    /// <param name="destination">At least <see cref="MostDecimalBytes"/> bytes.</param>
    public static int Format(decimal value, Span<byte> destination)
    {
        Span<byte> text = stackalloc byte[MostBytes];
        value.TryFormat(text, out int written, default, CultureInfo.InvariantCulture);
        Span<byte> digits = stackalloc byte[MostBytes];
        int count = ReadDigits(text[..written], digits, out int point);
        return Write(value < 0, digits[..count], point, destination);
    }

    /// <summary>Writes the text of a number of any digits, as that of a double is written; returns its bytes.</summary>
    /// <param name="isNegative">Whether it is less than 0.</param>
    /// <param name="digits">Its digits, as characters, without zeros at either end.</param>
    /// <param name="point">Behind how many of them the decimal point stands; also less than 0.</param>
    /// <param name="destination">With room for the digits and <see cref="MostBytes"/> more.</param>
    public static int Write(bool isNegative, ReadOnlySpan<byte> digits, int point, Span<byte> destination)
    {
        int at = 0;
        if (isNegative)
        {
            destination[at++] = (byte)'-';
        }

        return at + Lay(digits, point, destination[at..]);
    }

    /// <summary>
    /// Writes a number below 1e21 with so many digits behind its point, a half rounded away from zero; returns its
    /// bytes.
    /// </summary>
    public static int FormatFixed(double value, int digits, Span<byte> destination)
    {
        // A double that is not exactly on a half differs from it within the next twenty digits.
        const int DigitsBehind = 20;
        int behind = digits + DigitsBehind;
        ReadOnlySpan<char> format = ['F', (char)('0' + (behind / 10)), (char)('0' + (behind % 10))];
        destination[0] = (byte)'0';
        Math.Abs(value).TryFormat(destination[1..], out int written, format, CultureInfo.InvariantCulture);
        int end = 1 + written - DigitsBehind;
        bool isUp = destination[end] >= '5';
        end = digits == 0 ? end - 1 : end;
        for (int at = end - 1; isUp; at--)
        {
            if (destination[at] != '.')
            {
                isUp = destination[at] == '9';
                destination[at] = isUp ? (byte)'0' : (byte)(destination[at] + 1);
            }
        }

        int start = destination[0] == '0' ? 1 : 0;
        destination[start..end].CopyTo(destination[1..]);
        end += 1 - start;
        if (value < 0)
        {
            destination[0] = (byte)'-';
            return end;
        }

        destination[1..end].CopyTo(destination);
        return end - 1;
    }

    /// <summary>The number that a text is, as JavaScript's Number(text): NaN where it is none.</summary>
    public static double Parse(ReadOnlySpan<byte> text)
    {
        text = Blanks.Trim(text);
        if (text.IsEmpty)
        {
            return 0;
        }

        int radix = text.Length > 2 && text[0] == '0' ? RadixOf(text[1]) : 0;
        if (radix > 0)
        {
            double value = ParseDigits(text[2..], radix, out int read);
            return read == text.Length - 2 ? value : double.NaN;
        }

        int length = DecimalLength(text);
        return length == text.Length ? ParsePrefix(text) : double.NaN;
    }

    private static int RadixOf(byte letter) =>
        letter switch
        {
            (byte)'x' or (byte)'X' => 16,
            (byte)'o' or (byte)'O' => 8,
            (byte)'b' or (byte)'B' => 2,
            _ => 0,
        };

    /// <summary>The number that a text begins with, as JavaScript's parseFloat.</summary>
    public static double ParsePrefix(ReadOnlySpan<byte> text)
    {
        text = Blanks.Trim(text);
        int length = DecimalLength(text);
        if (length == 0)
        {
            return double.NaN;
        }

        text = text[..length];
        if (text[^1] == 'y')
        {
            return text[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
        }

        return double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
    }

    /// <summary>The integer that a text begins with, as JavaScript's parseInt.</summary>
    public static double ParseInteger(ReadOnlySpan<byte> text, int radix)
    {
        text = Blanks.Trim(text);
        bool isNegative = !text.IsEmpty && text[0] == '-';
        text = !text.IsEmpty && text[0] is (byte)'-' or (byte)'+' ? text[1..] : text;
        if (radix is 0 or 16 && text.Length > 1 && text[0] == '0' && text[1] is (byte)'x' or (byte)'X')
        {
            text = text[2..];
            radix = 16;
        }

        double value = ParseDigits(text, radix == 0 ? 10 : radix, out int read);
        return read == 0 ? double.NaN
            : isNegative ? -value
            : value;
    }

    /// <summary>
    /// Digits of powers of two are rounded once, to even. Those of other bases are added in groups that fit 32 bits,
    /// as engines do, because the last bits of a long number follow from it.
    /// </summary>
    private static double ParseDigits(ReadOnlySpan<byte> text, int radix, out int read)
    {
        if (radix == 10)
        {
            int end = text.IndexOfAnyExceptInRange((byte)'0', (byte)'9');
            read = end < 0 ? text.Length : end;
            return read == 0 ? 0 : double.Parse(text[..read], NumberStyles.None, CultureInfo.InvariantCulture);
        }

        for (read = 0; read < text.Length && DigitOf(text[read]) < radix; read++) { }

        return int.IsPow2(radix) ? SumOfBits(text[..read], int.Log2(radix)) : SumOfGroups(text[..read], radix);
    }

    private static double SumOfBits(ReadOnlySpan<byte> digits, int bitsPerDigit)
    {
        const ulong Full = 1UL << 58;
        ulong leading = 0,
            rest = 0;
        int dropped = 0;
        foreach (byte digit in digits)
        {
            if (leading < Full)
            {
                leading = (leading << bitsPerDigit) | (uint)DigitOf(digit);
            }
            else
            {
                rest |= (uint)DigitOf(digit);
                dropped += bitsPerDigit;
            }
        }

        // What was dropped only decides whether a half is one: a bit below all that a double keeps says so.
        return Math.ScaleB(leading | (rest == 0 ? 0UL : 1), dropped);
    }

    private static double SumOfGroups(ReadOnlySpan<byte> digits, int radix)
    {
        const uint MostMultiplier = uint.MaxValue / 36;
        double sum = 0;
        uint group = 0,
            multiplier = 1;
        foreach (byte digit in digits)
        {
            if (multiplier * (uint)radix > MostMultiplier)
            {
                sum = (sum * multiplier) + group;
                (group, multiplier) = (0, 1);
            }

            group = (group * (uint)radix) + (uint)DigitOf(digit);
            multiplier *= (uint)radix;
        }

        return (sum * multiplier) + group;
    }

    private static int DigitOf(byte character) =>
        character switch
        {
            >= (byte)'0' and <= (byte)'9' => character - '0',
            >= (byte)'a' and <= (byte)'z' => character - 'a' + 10,
            >= (byte)'A' and <= (byte)'Z' => character - 'A' + 10,
            _ => int.MaxValue,
        };

    /// <summary>Bytes of the decimal number that a text begins with.</summary>
    private static int DecimalLength(ReadOnlySpan<byte> text)
    {
        int at = !text.IsEmpty && text[0] is (byte)'-' or (byte)'+' ? 1 : 0;
        if (text[at..].StartsWith("Infinity"u8))
        {
            return at + "Infinity"u8.Length;
        }

        int whole = Digits(text, at);
        int end = at + whole,
            fraction = 0;
        if (end < text.Length && text[end] == '.')
        {
            fraction = Digits(text, end + 1);
            end += whole + fraction > 0 ? fraction + 1 : 0;
        }

        if (whole + fraction == 0)
        {
            return 0;
        }

        if (end < text.Length && text[end] is (byte)'e' or (byte)'E')
        {
            int exponent = end + 1 < text.Length && text[end + 1] is (byte)'-' or (byte)'+' ? end + 2 : end + 1;
            int count = Digits(text, exponent);
            end = count > 0 ? exponent + count : end;
        }

        return end;
    }

    private static int Digits(ReadOnlySpan<byte> text, int at)
    {
        int length = at >= text.Length ? 0 : text[at..].IndexOfAnyExceptInRange((byte)'0', (byte)'9');
        return length < 0 ? text.Length - at : length;
    }

    /// <summary>
    /// Takes the digits of a number as .NET writes it; the decimal point stands <paramref name="point"/> digits behind
    /// the first.
    /// </summary>
    private static int ReadDigits(ReadOnlySpan<byte> text, Span<byte> digits, out int point)
    {
        int count = 0;
        int exponent = 0,
            before = -1;
        for (int at = 0; at < text.Length; at++)
        {
            byte next = text[at];
            if (next == '.')
            {
                before = count;
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

        point = (before < 0 ? count : before) + exponent;
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

    private static int Lay(ReadOnlySpan<byte> digits, int point, Span<byte> destination)
    {
        int count = digits.Length;
        if (point is > 0 and <= 21)
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

        if (point is > -6 and <= 0)
        {
            int at = Copy("0.0000000"u8[..(2 - point)], destination);
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
