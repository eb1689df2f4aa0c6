using System.Globalization;
using System.Numerics;
using System.Text;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// A number with a mantissa of 64 bits, like the type <c>long double</c> of x86 in which Redis adds. Computed with
/// integers, so that all members and processors get the same digits.
/// </summary>
internal readonly struct ExtendedFloat
{
    // Redis reads numbers of at most this length.
    private const int MaxTextBytes = 5119;
    private const int MaxReadExponent = 100_000;
    private const int MantissaBits = 64;
    private const int MaxExponent = 16384; // the value is below 2 to this power
    private const int MinExponent = -16445;
    private const int MaxDecimalExponent = 4932; // of the first digit
    private const int MinDecimalExponent = -4951;
    private const int FractionDigits = 17;

    private readonly BigInteger _mantissa;
    private readonly int _exponent;
    private readonly bool _isInfinite;

    private ExtendedFloat(BigInteger mantissa, int exponent, bool isInfinite = false)
    {
        _mantissa = mantissa;
        _exponent = exponent;
        _isInfinite = isInfinite;
    }

    /// <summary>Whether the number is infinite.</summary>
    public bool IsInfinite => _isInfinite;

    /// <summary>The approximate number of digits before the point.</summary>
    public int Digits => (int)(Math.Max(0, (_mantissa.IsZero ? 0 : MantissaBits) + _exponent) * 0.302);

    /// <summary>Reads a decimal or hexadecimal number, as C writes them, or an infinity.</summary>
    public static bool TryRead(ReadOnlySpan<byte> text, out ExtendedFloat value)
    {
        value = default;
        if (text.Length is 0 or > MaxTextBytes)
        {
            return false;
        }

        bool isNegative = text[0] == (byte)'-';
        if (text[0] is (byte)'-' or (byte)'+')
        {
            text = text[1..];
        }

        if (RedisNumber.IsWord(text, "INF"u8) || RedisNumber.IsWord(text, "INFINITY"u8))
        {
            value = new ExtendedFloat(isNegative ? BigInteger.MinusOne : BigInteger.One, 0, isInfinite: true);
            return true;
        }

        if (text.StartsWith("0x"u8) || text.StartsWith("0X"u8))
        {
            return TryReadHexadecimal(text[2..], isNegative, out value);
        }

        int integers = CountDigits(text);
        var fraction = integers < text.Length && text[integers] == (byte)'.' ? text[(integers + 1)..] : default;
        int fractions = CountDigits(fraction);
        int end = integers + (fraction.IsEmpty && !HasPoint(text, integers) ? 0 : 1 + fractions);
        if (integers + fractions == 0 || !TryReadExponent(text[end..], (byte)'e', out int exponent))
        {
            return false;
        }

        string digits = Encoding.ASCII.GetString(text[..integers]) + Encoding.ASCII.GetString(fraction[..fractions]);
        var mantissa = BigInteger.Parse(digits, NumberStyles.None, CultureInfo.InvariantCulture);
        if (mantissa.IsZero)
        {
            return true;
        }

        exponent -= fractions;
        int first = digits.TrimStart('0').Length - 1 + exponent;
        if (first is > MaxDecimalExponent or < MinDecimalExponent || !TryRound(mantissa, exponent, out value))
        {
            value = default;
            return false;
        }

        value = new ExtendedFloat(isNegative ? -value._mantissa : value._mantissa, value._exponent);
        return true;
    }

    /// <summary>Adds two numbers; false if the sum is infinite or no number.</summary>
    public static bool TryAdd(ExtendedFloat left, ExtendedFloat right, out ExtendedFloat sum)
    {
        sum = default;
        if (left._isInfinite || right._isInfinite)
        {
            return false;
        }

        int exponent = Math.Min(left._exponent, right._exponent);
        var exact = (left._mantissa << (left._exponent - exponent)) + (right._mantissa << (right._exponent - exponent));
        sum = Round(exact, exponent, hasRest: false);
        return sum.IsInRange;
    }

    /// <summary>Returns the decimal digits, at most 17 after the point, without zeros at the end.</summary>
    public byte[] Format()
    {
        var scaled = BigInteger.Abs(_mantissa) * BigInteger.Pow(10, FractionDigits);
        scaled = _exponent >= 0 ? scaled << _exponent : ShiftRight(scaled, -_exponent, hasRest: false);
        string digits = scaled.ToString("D" + (FractionDigits + 1), CultureInfo.InvariantCulture);
        string text = $"{digits[..^FractionDigits]}.{digits[^FractionDigits..]}".TrimEnd('0').TrimEnd('.');
        bool isNegative = _mantissa.Sign < 0 && !string.Equals(text, "0", StringComparison.Ordinal);
        return Encoding.ASCII.GetBytes(isNegative ? "-" + text : text);
    }

    private bool IsInRange
    {
        get
        {
            var absolute = BigInteger.Abs(_mantissa);
            long end = absolute.GetBitLength() + _exponent;
            // More than half of the smallest number is rounded to it.
            return absolute.IsZero
                || end is > MinExponent and <= MaxExponent
                || (end == MinExponent && !absolute.IsPowerOfTwo);
        }
    }

    private static bool HasPoint(ReadOnlySpan<byte> text, int at) => at < text.Length && text[at] == (byte)'.';

    private static int CountDigits(ReadOnlySpan<byte> text)
    {
        int end = text.IndexOfAnyExceptInRange((byte)'0', (byte)'9');
        return end < 0 ? text.Length : end;
    }

    // The exponent is one of 2, and its digits are decimal.
    private static bool TryReadHexadecimal(ReadOnlySpan<byte> text, bool isNegative, out ExtendedFloat value)
    {
        const int BitsPerDigit = 4;
        value = default;
        int integers = CountHexadecimalDigits(text);
        bool hasPoint = HasPoint(text, integers);
        var fraction = hasPoint ? text[(integers + 1)..] : default;
        int fractions = CountHexadecimalDigits(fraction);
        int end = integers + (hasPoint ? 1 : 0) + fractions;
        if (integers + fractions == 0 || !TryReadExponent(text[end..], (byte)'p', out int exponent))
        {
            return false;
        }

        // The zero keeps the first digit from being read as a sign.
        string digits =
            "0" + Encoding.ASCII.GetString(text[..integers]) + Encoding.ASCII.GetString(fraction[..fractions]);
        var mantissa = BigInteger.Parse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);
        value = Round(isNegative ? -mantissa : mantissa, exponent - (BitsPerDigit * fractions), hasRest: false);
        if (value.IsInRange)
        {
            return true;
        }

        value = default;
        return false;
    }

    private static int CountHexadecimalDigits(ReadOnlySpan<byte> text)
    {
        int end = 0;
        while (end < text.Length && char.IsAsciiHexDigit((char)text[end]))
        {
            end++;
        }

        return end;
    }

    private static bool TryReadExponent(ReadOnlySpan<byte> text, byte letter, out int exponent)
    {
        exponent = 0;
        if (text.IsEmpty)
        {
            return true;
        }

        if ((text[0] | 0x20) != letter)
        {
            return false;
        }

        text = text[1..];
        bool isNegative = !text.IsEmpty && text[0] == (byte)'-';
        if (!text.IsEmpty && text[0] is (byte)'-' or (byte)'+')
        {
            text = text[1..];
        }

        if (text.IsEmpty || CountDigits(text) != text.Length)
        {
            return false;
        }

        foreach (byte digit in text)
        {
            exponent = Math.Min((exponent * 10) + (digit - '0'), MaxReadExponent);
        }

        exponent = isNegative ? -exponent : exponent;
        return true;
    }

    // Rounds a decimal number; false if it is too large or too small.
    private static bool TryRound(BigInteger digits, int decimalExponent, out ExtendedFloat value)
    {
        if (decimalExponent >= 0)
        {
            value = Round(digits * BigInteger.Pow(10, decimalExponent), 0, hasRest: false);
        }
        else
        {
            var divisor = BigInteger.Pow(10, -decimalExponent);
            int shift = (int)Math.Max(0, divisor.GetBitLength() - digits.GetBitLength() + MantissaBits + 2);
            var quotient = BigInteger.DivRem(digits << shift, divisor, out var rest);
            value = Round(quotient, -shift, !rest.IsZero);
        }

        return value.IsInRange;
    }

    private static ExtendedFloat Round(BigInteger mantissa, int exponent, bool hasRest)
    {
        var absolute = BigInteger.Abs(mantissa);
        int excess = (int)absolute.GetBitLength() - MantissaBits;
        if (excess > 0)
        {
            absolute = ShiftRight(absolute, excess, hasRest);
            exponent += excess;
        }

        return absolute.IsZero ? default : new ExtendedFloat(mantissa.Sign < 0 ? -absolute : absolute, exponent);
    }

    // Divides by a power of 2, and rounds to the nearest integer, in the middle to the even one.
    private static BigInteger ShiftRight(BigInteger value, int bits, bool hasRest)
    {
        var result = value >> bits;
        var rest = value - (result << bits);
        int order = rest.CompareTo(BigInteger.One << (bits - 1));
        bool isAbove = order > 0 || (order == 0 && (hasRest || !result.IsEven));
        return isAbove ? result + BigInteger.One : result;
    }
}
