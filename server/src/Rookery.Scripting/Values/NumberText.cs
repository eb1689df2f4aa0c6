using System.Globalization;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Values;

/// <summary>
/// Converts texts to numbers as JavaScript does, and formats numbers with a fixed number of digits. Independent of
/// processor and culture.
/// </summary>
internal static class NumberText
{
    /// <summary>Maximum digits after the point that <see cref="FormatFixed"/> writes.</summary>
    public const int MaxFixedDigits = 50;

    /// <summary>Maximum bytes that <see cref="FormatFixed"/> writes.</summary>
    public const int MaxFixedBytes = 128;

    /// <summary>
    /// Writes a number below 1e21 with a fixed number of digits after the point, halves rounded away from zero, and
    /// returns its length in bytes.
    /// </summary>
    public static int FormatFixed(double value, int digits, Span<byte> destination)
    {
        // A double that is not exactly a half differs from it within the next twenty digits.
        const int ExtraDigits = 20;
        int places = digits + ExtraDigits;
        ReadOnlySpan<char> format = ['F', (char)('0' + (places / 10)), (char)('0' + (places % 10))];
        // The digit before the number receives the carry of a rounding up.
        destination[0] = (byte)'0';
        Math.Abs(value).TryFormat(destination[1..], out int written, format, CultureInfo.InvariantCulture);
        int end = 1 + written - ExtraDigits;
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

    /// <summary>Returns the number of a text, as JavaScript's Number(text); NaN if it is none.</summary>
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

    /// <summary>Returns the number at the start of a text, as JavaScript's parseFloat.</summary>
    public static double ParsePrefix(ReadOnlySpan<byte> text)
    {
        text = Blanks.Trim(text);
        int length = DecimalLength(text);
        if (length == 0)
        {
            return double.NaN;
        }

        text = text[..length];
        // Only Infinity ends in a letter.
        if (text[^1] == 'y')
        {
            return text[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
        }

        return double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
    }

    /// <summary>Returns the integer at the start of a text, as JavaScript's parseInt; NaN if there is none.</summary>
    /// <param name="text">The text.</param>
    /// <param name="radix">The base, from 2 to 36; 0 for 16 after <c>0x</c> and 10 otherwise.</param>
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
        if (read == 0)
        {
            return double.NaN;
        }

        if (isNegative)
        {
            return -value;
        }

        return value;
    }

    /// <summary>
    /// Reads digits of a base. For a power of two, the value is rounded once, half to even. For other bases, digits are
    /// added in groups of up to 32 bits. The groups determine the last bits of a long number, and JavaScript engines
    /// have the same ones.
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
        // Beyond this value, there may be no room for another digit, which has up to five bits.
        const ulong Full = 1UL << 58;
        ulong leading = 0,
            droppedBits = 0;
        int droppedCount = 0;
        foreach (byte digit in digits)
        {
            if (leading < Full)
            {
                leading = (leading << bitsPerDigit) | (uint)DigitOf(digit);
            }
            else
            {
                droppedBits |= (uint)DigitOf(digit);
                droppedCount += bitsPerDigit;
            }
        }

        // The dropped digits matter only for rounding a half. One bit below the precision of a double stands for them.
        return Math.ScaleB(leading | (droppedBits == 0 ? 0UL : 1), droppedCount);
    }

    private static double SumOfGroups(ReadOnlySpan<byte> digits, int radix)
    {
        const uint MaxMultiplier = uint.MaxValue / 36;
        double sum = 0;
        uint group = 0,
            multiplier = 1;
        foreach (byte digit in digits)
        {
            if (multiplier * (uint)radix > MaxMultiplier)
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

    /// <summary>Returns the length of the decimal number at the start of a text; 0 if there is none.</summary>
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
}
