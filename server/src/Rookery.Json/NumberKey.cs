using System.Buffers.Binary;

namespace Rookery.Json;

/// <summary>
/// Encodes numbers as bytes that sort like the numbers. The bytes contain the decimal digits of the JSON, so integers
/// beyond 2^53 are distinct. <c>1</c>, <c>1.0</c> and <c>1e0</c> are equal, and so are <c>-0</c> and <c>0</c>.
/// </summary>
/// <remarks>
/// A number is <c>0.d1d2d3… × 10^exponent</c> with d1 not 0. Key: <c>[sign u8][exponent u16, biased, big-endian][pairs
/// of digits, each plus 1]</c>. For a negative number all bytes after the sign are complemented, and 0xFF ends the key,
/// so that more digits sort lower. Only the first 40 significant digits count; all numbers of 1e16383 or more are
/// equal, and all below 1e-16384 equal 0.
/// </remarks>
public static class NumberKey
{
    /// <summary>Maximum bytes of a key.</summary>
    public const int MaxBytes = 1 + 2 + (MaxDigits / 2) + 1;

    /// <summary>Maximum bytes of a key's JSON text.</summary>
    public const int MaxJsonBytes = MaxDigits + 16;

    /// <summary>The first byte of a negative number's key.</summary>
    public const byte Negative = 0x30;

    /// <summary>The key of 0.</summary>
    public const byte Zero = 0x31;

    /// <summary>The first byte of a positive number's key.</summary>
    public const byte Positive = 0x32;

    private const int MaxDigits = 40;
    private const int MaxExponent = 16383;
    private const int ExponentBias = 16384;

    // Far beyond MaxExponent, so that limiting a larger exponent does not change the key.
    private const int ExponentLimit = 1_000_000_000;

    /// <summary>Writes the key of a number.</summary>
    /// <param name="text">A JSON number.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Number of bytes written.</returns>
    public static int Write(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        Span<byte> digits = stackalloc byte[MaxDigits];
        int count = Read(text, digits, out bool isNegative, out int exponent);
        return Write(digits[..count], isNegative, exponent, destination);
    }

    /// <summary>Writes the key of a number without its fraction.</summary>
    /// <inheritdoc cref="Write(ReadOnlySpan{byte}, Span{byte})"/>
    public static int WriteWhole(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        Span<byte> digits = stackalloc byte[MaxDigits];
        int count = Read(text, digits, out bool isNegative, out int exponent);
        int wholeDigits = Math.Min(count, Math.Max(exponent, 0));
        return Write(digits[..wholeDigits].TrimEnd((byte)0), isNegative, exponent, destination);
    }

    /// <summary>
    /// Writes the number of a key as canonical JSON: with no more digits than needed, and an exponent only for very
    /// large and very small numbers.
    /// </summary>
    /// <param name="key">The key of a number.</param>
    /// <param name="destination">At least <see cref="MaxJsonBytes"/> bytes.</param>
    /// <returns>Number of bytes written.</returns>
    public static int WriteJson(ReadOnlySpan<byte> key, Span<byte> destination)
    {
        if (key[0] == Zero)
        {
            destination[0] = (byte)'0';
            return 1;
        }

        bool isNegative = key[0] == Negative;
        Span<byte> digits = stackalloc byte[MaxDigits];
        int count = 0;
        foreach (byte pair in isNegative ? key[3..^1] : key[3..])
        {
            (int high, int low) = Math.DivRem((isNegative ? (byte)~pair : pair) - 1, 10);
            digits[count++] = (byte)('0' + high);
            digits[count++] = (byte)('0' + low);
        }

        ushort biased = BinaryPrimitives.ReadUInt16BigEndian(key[1..]);
        int exponent = (isNegative ? (ushort)~biased : biased) - ExponentBias;
        if (count == 0)
        {
            // The key of all numbers of 1e16383 or more has no digits.
            digits[count++] = (byte)'1';
        }
        else if (digits[count - 1] == (byte)'0')
        {
            count--;
        }

        return JsonNumber.Write(isNegative, digits[..count], exponent, destination);
    }

    /// <summary>Reads the significant digits of a number, without leading or trailing zeros.</summary>
    /// <param name="text">A JSON number.</param>
    /// <param name="digits">Receives the digits, as values 0 to 9; digits that do not fit are dropped.</param>
    /// <param name="isNegative">Whether the number begins with a minus sign.</param>
    /// <param name="exponent">The power of ten by which <c>0.digits</c> is multiplied.</param>
    /// <returns>Number of digits; 0 for the number 0.</returns>
    public static int Read(ReadOnlySpan<byte> text, Span<byte> digits, out bool isNegative, out int exponent)
    {
        isNegative = text[0] == (byte)'-';
        int count = 0;
        int significant = 0;
        long point = 0;
        bool isFraction = false;
        int at = isNegative ? 1 : 0;
        for (; at < text.Length && text[at] is not ((byte)'e' or (byte)'E'); at++)
        {
            if (text[at] == (byte)'.')
            {
                isFraction = true;
                continue;
            }

            int digit = text[at] - '0';
            if (significant == 0 && digit == 0)
            {
                point -= isFraction ? 1 : 0;
                continue;
            }

            point += isFraction ? 0 : 1;
            if (significant++ < digits.Length)
            {
                digits[count++] = (byte)digit;
            }
        }

        while (count > 0 && digits[count - 1] == 0)
        {
            count--;
        }

        exponent = (int)Math.Clamp(point + ReadExponent(text[at..]), -ExponentLimit, ExponentLimit);
        return count;
    }

    private static int Write(ReadOnlySpan<byte> digits, bool isNegative, int exponent, Span<byte> destination)
    {
        int count = digits.Length;
        if (count == 0 || exponent < -MaxExponent)
        {
            destination[0] = Zero;
            return 1;
        }

        if (exponent > MaxExponent)
        {
            count = 0;
            exponent = MaxExponent + 1;
        }

        destination[0] = isNegative ? Negative : Positive;
        BinaryPrimitives.WriteUInt16BigEndian(destination[1..], (ushort)(exponent + ExponentBias));
        int at = 3;
        for (int i = 0; i < count; i += 2)
        {
            int low = i + 1 < count ? digits[i + 1] : 0;
            destination[at++] = (byte)((digits[i] * 10) + low + 1);
        }

        if (isNegative)
        {
            foreach (ref byte value in destination[1..at])
            {
                value = (byte)~value;
            }

            destination[at++] = 0xFF;
        }

        return at;
    }

    // Reads an exponent with its letter, such as "e+5"; 0 for no text. Larger exponents are limited, so that sums with
    // them do not overflow.
    private static long ReadExponent(ReadOnlySpan<byte> text)
    {
        if (text.IsEmpty)
        {
            return 0;
        }

        long value = 0;
        bool isNegative = text[1] == (byte)'-';
        int digitsAt = text[1] is (byte)'-' or (byte)'+' ? 2 : 1;
        foreach (byte digit in text[digitsAt..])
        {
            value = Math.Min((value * 10) + (digit - '0'), 1_000_000_000_000);
        }

        return isNegative ? -value : value;
    }
}
