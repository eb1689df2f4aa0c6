using System.Globalization;
using System.Numerics;
using System.Text;
using Rookery.Disk;

namespace Rookery.Json;

/// <summary>
/// A sum that does not depend on the order of what is added: numbers with up to 19 digits before the point and 18
/// behind it are added exactly, as decimals; others as the doubles next to them, which are added exactly, too. Sums of
/// parts can be added.
/// </summary>
public struct NumberSum
{
    /// <summary>Bytes that <see cref="Write"/> and <see cref="WriteAverage"/> need.</summary>
    public const int MostBytes = 64;

    private const int FractionDigits = 18;
    private const int WholeDigits = 19;
    private const long FractionUnits = 1_000_000_000_000_000_000;

    // The least double is 2^-1074: of that all are multiples.
    private const int LeastExponent = -1074;
    private const int MantissaBits = 52;
    private const int ExponentMask = 0x7FF;
    private const int ExactBits = 63;

    private Int128 _whole;
    private Int128 _fraction;
    private BigInteger _rest;

    /// <summary>How many numbers were added.</summary>
    public long Count { get; private set; }

    /// <summary>Adds a number.</summary>
    /// <param name="text">As JSON writes it.</param>
    public void Add(ReadOnlySpan<byte> text)
    {
        Count++;
        Span<byte> digits = stackalloc byte[FractionDigits + WholeDigits + 1];
        int count = NumberKey.Read(text, digits, out bool isNegative, out int exponent);
        if (exponent > WholeDigits || count - exponent > FractionDigits || count > FractionDigits + WholeDigits)
        {
            _rest += UnitsOf(double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture));
            return;
        }

        Int128 units = 0;
        foreach (byte digit in digits[..count])
        {
            units = (units * 10) + digit;
        }

        for (int zeros = FractionDigits - (count - exponent); zeros > 0 && units != 0; zeros--)
        {
            units *= 10;
        }

        units = isNegative ? -units : units;
        _whole += units / FractionUnits;
        _fraction += units % FractionUnits;
    }

    /// <summary>Adds the sum of other numbers.</summary>
    public void Add(NumberSum other)
    {
        _whole += other._whole;
        _fraction += other._fraction;
        _rest += other._rest;
        Count += other.Count;
    }

    /// <summary>The sum, as a JSON number; 0 without numbers.</summary>
    /// <param name="destination">At least <see cref="MostBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public readonly int Write(Span<byte> destination)
    {
        Int128 carried = _whole + (_fraction / FractionUnits);
        Int128 left = _fraction % FractionUnits;
        if (!_rest.IsZero)
        {
            return WriteDouble(Total(carried, left), destination);
        }

        (carried, left) = (carried > 0 && left < 0, carried < 0 && left > 0) switch
        {
            (true, _) => (carried - 1, left + FractionUnits),
            (_, true) => (carried + 1, left - FractionUnits),
            _ => (carried, left),
        };
        string text = $"{(carried < 0 || left < 0 ? "-" : "")}{Int128.Abs(carried)}";
        if (left != 0)
        {
            text += "." + Int128.Abs(left).ToString("D18", CultureInfo.InvariantCulture).TrimEnd('0');
        }

        return Encoding.UTF8.GetBytes(text, destination);
    }

    /// <summary>The average, as a JSON number; null without numbers.</summary>
    /// <param name="destination">At least <see cref="MostBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public readonly int WriteAverage(Span<byte> destination)
    {
        if (Count == 0)
        {
            "null"u8.CopyTo(destination);
            return 4;
        }

        // The sum may be beyond doubles where the average is not: the rest is divided before it becomes a double.
        double average = _rest.IsZero ? Total(_whole, _fraction) / Count : ToDouble(Units() / Count);
        return WriteDouble(average, destination);
    }

    /// <summary>Writes the sum as a part of greater ones.</summary>
    /// <param name="output">Takes a JSON array of whole numbers, behind what it holds.</param>
    public readonly void WriteParts(PooledBytes output)
    {
        output.Append((byte)'[');
        Append(_whole, output);
        output.Append((byte)',');
        Append(_fraction, output);
        output.Append((byte)',');
        output.Append(_rest.IsZero ? "0"u8 : Encoding.ASCII.GetBytes(_rest.ToString(CultureInfo.InvariantCulture)));
        output.Append((byte)',');
        Append(Count, output);
        output.Append((byte)']');
    }

    /// <summary>Reads what <see cref="WriteParts"/> wrote.</summary>
    public static NumberSum ReadParts(ReadOnlySpan<byte> json)
    {
        var left = json[1..^1];
        return new NumberSum
        {
            _whole = Int128.Parse(Next(ref left), CultureInfo.InvariantCulture),
            _fraction = Int128.Parse(Next(ref left), CultureInfo.InvariantCulture),
            _rest =
                Next(ref left) is var units && units.SequenceEqual("0"u8)
                    ? BigInteger.Zero
                    : BigInteger.Parse(Encoding.ASCII.GetString(units), CultureInfo.InvariantCulture),
            Count = long.Parse(left, CultureInfo.InvariantCulture),
        };
    }

    private static ReadOnlySpan<byte> Next(ref ReadOnlySpan<byte> parts)
    {
        int comma = parts.IndexOf((byte)',');
        var part = parts[..comma];
        parts = parts[(comma + 1)..];
        return part;
    }

    private static void Append<T>(T number, PooledBytes output)
        where T : IUtf8SpanFormattable
    {
        const int MostDigits = 48;
        bool isWritten = number.TryFormat(
            output.Reserve(MostDigits),
            out int written,
            default,
            CultureInfo.InvariantCulture
        );
        System.Diagnostics.Debug.Assert(isWritten, "a number of 128 bits has at most 40 digits");
        output.Advance(written);
    }

    /// <summary>How many of the least double a double is.</summary>
    private static BigInteger UnitsOf(double value)
    {
        long bits = BitConverter.DoubleToInt64Bits(Math.Clamp(value, double.MinValue, double.MaxValue));
        int exponent = (int)(bits >> MantissaBits) & ExponentMask;
        long mantissa = bits & ((1L << MantissaBits) - 1);
        BigInteger units = exponent == 0 ? mantissa : (BigInteger)(mantissa | (1L << MantissaBits)) << (exponent - 1);
        return bits < 0 ? -units : units;
    }

    /// <summary>How many of the least double the sum is; of what stands behind that, nothing.</summary>
    private readonly BigInteger Units() =>
        ((BigInteger)_whole << -LeastExponent) + (((BigInteger)_fraction << -LeastExponent) / FractionUnits) + _rest;

    private static double ToDouble(BigInteger units)
    {
        var size = BigInteger.Abs(units);
        int dropped = Math.Max(0, (int)size.GetBitLength() - ExactBits);
        double value = Math.ScaleB((double)(long)(size >> dropped), dropped + LeastExponent);
        return units.Sign < 0 ? -value : value;
    }

    private readonly double Total(Int128 wholePart, Int128 fractionPart) =>
        (double)wholePart + ((double)fractionPart / FractionUnits) + (_rest.IsZero ? 0 : ToDouble(_rest));

    /// <summary>JSON has no infinity: what is beyond doubles is the greatest of them.</summary>
    private static int WriteDouble(double value, Span<byte> destination)
    {
        value = double.IsNaN(value) ? 0 : Math.Clamp(value, double.MinValue, double.MaxValue);
        return Encoding.UTF8.GetBytes(value.ToString("R", CultureInfo.InvariantCulture), destination);
    }
}
