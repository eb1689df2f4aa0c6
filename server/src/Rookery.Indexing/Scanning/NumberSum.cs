using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Scanning;

/// <summary>
/// A sum that does not depend on the order of what is added: numbers with up to 19 digits before the point and 18 behind it are added exactly, as decimals; others as doubles. Sums of parts can be added.
/// </summary>
public struct NumberSum
{
    private const int FractionDigits = 18;
    private const int WholeDigits = 19;
    private const long FractionUnits = 1_000_000_000_000_000_000;

    private Int128 whole;
    private Int128 fraction;
    private double rest;

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
            rest += double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
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
        whole += units / FractionUnits;
        fraction += units % FractionUnits;
    }

    /// <summary>Adds the sum of other numbers.</summary>
    public void Add(NumberSum other)
    {
        whole += other.whole;
        fraction += other.fraction;
        rest += other.rest;
        Count += other.Count;
    }

    /// <summary>The sum, as a JSON number; 0 without numbers.</summary>
    /// <param name="destination">At least 64 bytes.</param>
    /// <returns>Bytes written.</returns>
    public readonly int Write(Span<byte> destination)
    {
        Int128 carried = whole + (fraction / FractionUnits);
        Int128 left = fraction % FractionUnits;
        if (rest != 0)
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
    /// <param name="destination">At least 64 bytes.</param>
    /// <returns>Bytes written.</returns>
    public readonly int WriteAverage(Span<byte> destination)
    {
        if (Count == 0)
        {
            "null"u8.CopyTo(destination);
            return 4;
        }

        return WriteDouble(Total(whole, fraction) / Count, destination);
    }

    private readonly double Total(Int128 wholePart, Int128 fractionPart) => (double)wholePart + ((double)fractionPart / FractionUnits) + rest;

    /// <summary>JSON has no infinity: what is beyond doubles is the greatest of them.</summary>
    private static int WriteDouble(double value, Span<byte> destination)
    {
        value = double.IsNaN(value) ? 0 : Math.Clamp(value, double.MinValue, double.MaxValue);
        return Encoding.UTF8.GetBytes(value.ToString("R", CultureInfo.InvariantCulture), destination);
    }
}
