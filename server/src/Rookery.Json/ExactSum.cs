using System.Globalization;
using System.Numerics;
using System.Text;

namespace Rookery.Json;

/// <summary>
/// An exact sum of JSON numbers, with all their digits. It depends neither on the order of addition nor on whether
/// partial sums were written and read back.
/// </summary>
/// <remarks>
/// Digits after the 340th place of the fraction are dropped from each number; the shortest text of a double has none
/// there. A number of 1e330 or more is larger than any sum of doubles, and counts as the largest double.
/// </remarks>
public struct ExactSum
{
    /// <summary>
    /// Maximum bytes that <see cref="Write"/>, <see cref="WriteReal"/> and <see cref="WriteWhole"/> write.
    /// </summary>
    public const int MaxBytes = 768;

    // Numbers with up to 19 digits before the point, as in a long, and up to 36 after it are added without BigInteger,
    // which takes 2 µs for each. A double such as 0.0051234567890123456 has 19 digits after the point.
    private const int WholeDigits = 19;
    private const int PartDigits = 18;
    private const long PartUnits = 1_000_000_000_000_000_000; // 10 to the power of PartDigits
    private const int MaxFastDigits = WholeDigits + (2 * PartDigits);

    // 2 to the power of 53: a double holds each whole number up to it, and divides it correctly.
    private const long MaxExactWhole = 1L << 53;

    private const int MaxDecimalPlaces = 340;
    private const int MaxWholeDigits = 330;

    // Maximum digits of one number, and of a sum of as many numbers as a long can count.
    private const int MaxDigits = MaxDecimalPlaces + MaxWholeDigits + 1;
    private const int MaxDigitsOfSum = 720;

    private static readonly BigInteger FineScale = BigInteger.Pow(10, MaxDecimalPlaces - (2 * PartDigits));

    private static readonly ulong[] Powers =
    [
        .. Enumerable.Range(0, PartDigits + 1).Select(static exponent => (ulong)BigInteger.Pow(10, exponent)),
    ];

    private Int128 _whole; // digits before the point
    private Int128 _fraction; // first 18 digits after the point
    private Int128 _fine; // next 18 digits

    // The sum of numbers with more digits, in units of the 340th place after the point.
    private BigInteger _remainder;

    /// <summary>Adds a JSON number.</summary>
    public void Add(ReadOnlySpan<byte> json) => Add(json, isSubtracted: false);

    /// <summary>Subtracts a JSON number.</summary>
    public void Subtract(ReadOnlySpan<byte> json) => Add(json, isSubtracted: true);

    /// <summary>Adds an integer.</summary>
    public void Add(long number) => _whole += number;

    /// <summary>Returns the sum if it is an integer that fits a long.</summary>
    public readonly bool TryGetWhole(out long whole)
    {
        var (sum, fraction, fine) = Normalize();
        whole = unchecked((long)sum);
        return fraction == 0 && fine == 0 && _remainder.IsZero && whole == sum;
    }

    /// <summary>Writes the sum as JSON in JavaScript's form: with an exponent from 1e21 on and below 1e-6.</summary>
    /// <returns>Number of bytes written.</returns>
    public readonly int Write(Span<byte> destination)
    {
        Span<byte> digits = stackalloc byte[MaxDigitsOfSum];
        int count = GetDigits(digits, out bool isNegative, out int point);
        return JsonNumber.Write(isNegative, digits[..count], point, destination);
    }

    /// <summary>Writes the sum as a C# double, with a point or an exponent, and returns its length in bytes.</summary>
    public readonly int WriteReal(Span<byte> destination)
    {
        int length = Write(destination);
        if (destination[..length].IndexOfAny((byte)'.', (byte)'e') < 0)
        {
            ".0"u8.CopyTo(destination[length..]);
            length += 2;
        }

        return length;
    }

    /// <summary>Writes an integral sum as JSON without an exponent, and returns its length in bytes.</summary>
    public readonly int WriteWhole(Span<byte> destination)
    {
        Span<byte> digits = stackalloc byte[MaxDigitsOfSum];
        int count = GetDigits(digits, out bool isNegative, out int point);
        int at = 0;
        if (isNegative)
        {
            destination[at++] = (byte)'-';
        }

        digits[..count].CopyTo(destination[at..]);
        destination[(at + count)..(at + point)].Fill((byte)'0');
        return at + point;
    }

    /// <summary>
    /// Returns the double nearest to the sum; the largest or least double if the sum is out of range.
    /// </summary>
    public readonly double ToDouble()
    {
        Span<byte> digits = stackalloc byte[MaxBytes];
        double sum = double.Parse(digits[..Write(digits)], NumberStyles.Float, CultureInfo.InvariantCulture);
        return Math.Clamp(sum, double.MinValue, double.MaxValue);
    }

    /// <summary>
    /// Returns the double nearest to the sum divided by a count: 0.1 for 0.1, 0.1 and 0.1. The quotient of the double
    /// nearest to the sum would be 0.09999999999999999.
    /// </summary>
    /// <param name="count">At least 1.</param>
    public readonly double Average(long count) =>
        TryGetWhole(out long whole) && whole is >= -MaxExactWhole and <= MaxExactWhole
            ? (double)whole / count
            : new ExactSum { _remainder = Units() / count }.ToDouble();

    private void Add(ReadOnlySpan<byte> json, bool isSubtracted)
    {
        Span<byte> digits = stackalloc byte[MaxFastDigits];
        int count = NumberKey.Read(json, digits, out bool isNegative, out int exponent);
        bool isNegated = isNegative != isSubtracted;
        if (count == 0)
        {
            return;
        }

        bool hasMoreDigits = json.Length > MaxFastDigits || exponent > WholeDigits || count - exponent > 2 * PartDigits;
        if (hasMoreDigits)
        {
            var units = UnitsOf(json);
            _remainder += isSubtracted ? -units : units;
            return;
        }

        digits = digits[..count];
        Int128 whole = ParseDigits(digits, exponent - WholeDigits, WholeDigits);
        Int128 fraction = ParseDigits(digits, exponent, PartDigits);
        Int128 fine = ParseDigits(digits, exponent + PartDigits, PartDigits);
        _whole += isNegated ? -whole : whole;
        _fraction += isNegated ? -fraction : fraction;
        _fine += isNegated ? -fine : fine;
    }

    /// <summary>Returns a range of digits as one number; positions outside the digits count as zero.</summary>
    private static ulong ParseDigits(ReadOnlySpan<byte> digits, int first, int count)
    {
        int end = Math.Min(first + count, digits.Length);
        ulong part = 0;
        for (int place = Math.Max(first, 0); place < end; place++)
        {
            part = (part * 10) + digits[place];
        }

        return part == 0 ? 0 : part * Powers[first + count - end];
    }

    /// <summary>
    /// Returns the parts of the sum in normal form: each fraction is less than one unit of the part before it, and all
    /// parts have the sign of the sum.
    /// </summary>
    private readonly (Int128 Whole, long Fraction, long Fine) Normalize()
    {
        Int128 fraction = _fraction + (_fine / PartUnits);
        Int128 fine = _fine % PartUnits;
        Int128 whole = _whole + (fraction / PartUnits);
        fraction %= PartUnits;
        int sign = Int128.Sign(
            whole != 0 ? whole
            : fraction != 0 ? fraction
            : fine
        );
        if (Int128.Sign(fine) == -sign)
        {
            fraction -= sign;
            fine += sign * (Int128)PartUnits;
        }

        return Int128.Sign(fraction) == -sign
            ? (whole - sign, (long)(fraction + (sign * (Int128)PartUnits)), (long)fine)
            : (whole, (long)fraction, (long)fine);
    }

    /// <summary>
    /// Writes the digits of the sum as characters, without leading or trailing zeros; a single zero for 0. Returns
    /// their number. <paramref name="point"/> is the number of digits before the decimal point.
    /// </summary>
    private readonly int GetDigits(Span<byte> digits, out bool isNegative, out int point)
    {
        var (whole, fraction, fine) = Normalize();
        int count;
        if (_remainder.IsZero)
        {
            isNegative = whole < 0 || fraction < 0 || fine < 0;
            Int128.Abs(whole).TryFormat(digits, out point, default, CultureInfo.InvariantCulture);
            Math.Abs(fraction).TryFormat(digits[point..], out _, "D18", CultureInfo.InvariantCulture);
            count = point + PartDigits;
            Math.Abs(fine).TryFormat(digits[count..], out _, "D18", CultureInfo.InvariantCulture);
            count += PartDigits;
        }
        else
        {
            var units = Units();
            isNegative = units.Sign < 0;
            string text = BigInteger.Abs(units).ToString(CultureInfo.InvariantCulture);
            count = Encoding.ASCII.GetBytes(text, digits);
            point = count - MaxDecimalPlaces;
        }

        int zeros = digits[..count].IndexOfAnyExcept((byte)'0');
        if (zeros < 0)
        {
            point = 1;
            return 1;
        }

        digits[zeros..count].CopyTo(digits);
        point -= zeros;
        return digits[..(count - zeros)].TrimEnd((byte)'0').Length;
    }

    // Returns the sum in units of the 340th place after the point.
    private readonly BigInteger Units() =>
        (((((BigInteger)_whole * PartUnits) + _fraction) * PartUnits) + _fine) * FineScale + _remainder;

    private static BigInteger UnitsOf(ReadOnlySpan<byte> json)
    {
        Span<byte> digits = stackalloc byte[MaxDigits];
        int count = NumberKey.Read(json, digits, out bool isNegative, out int exponent);
        if (exponent > MaxWholeDigits)
        {
            return isNegative ? -UnitsOf("1.7976931348623157e308"u8) : UnitsOf("1.7976931348623157e308"u8);
        }

        count = Math.Min(count, exponent + MaxDecimalPlaces);
        BigInteger units = 0;
        for (int first = 0; first < count; first += PartDigits)
        {
            units = (units * PartUnits) + ParseDigits(digits[..count], first, PartDigits);
        }

        // ParseDigits fills the last part with zeros.
        int digitsOfLastPart = count <= 0 ? 0 : count % PartDigits;
        int padding = digitsOfLastPart == 0 ? 0 : PartDigits - digitsOfLastPart;
        int scale = exponent - count + MaxDecimalPlaces - padding;
        units = scale < 0 ? units / BigInteger.Pow(10, -scale) : units * BigInteger.Pow(10, Math.Max(scale, 0));
        return isNegative ? -units : units;
    }
}
