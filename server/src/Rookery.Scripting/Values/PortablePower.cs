namespace Rookery.Scripting.Values;

/// <summary>
/// Computes <c>Math.Pow</c> with the same result on every processor. .NET calls the C library, whose last digit differs
/// between processors. This implementation uses only operations whose results IEEE 754 defines (addition,
/// multiplication, fused multiply-add, division). It computes with pairs of doubles, so that the only error is the
/// rounding of the result.
/// </summary>
internal static class PortablePower
{
    // Number of terms of a series, after which the next term is smaller than the last bit of a pair.
    private const int TermsOfLogarithm = 24;
    private const int TermsOfExponential = 28;
    private const double MaxWholeExponent = 1 << 30;

    private static readonly Pair Ln2 = new(0.69314718055994529, 2.3190468138462996e-17);

    /// <summary>Returns a number raised to a power.</summary>
    public static double Of(double number, double exponent)
    {
        if (exponent == 0 || number == 1)
        {
            return 1;
        }

        if (double.IsNaN(number) || double.IsNaN(exponent))
        {
            return double.NaN;
        }

        bool isWhole = exponent == Math.Truncate(exponent);
        bool isOdd = isWhole && Math.Abs(exponent % 2) == 1;
        if (number == 0 || double.IsInfinity(number) || double.IsInfinity(exponent))
        {
            return OfExtremes(number, exponent, isOdd);
        }

        if (number < 0 && !isWhole)
        {
            return double.NaN;
        }

        double magnitude = Math.Abs(number);
        double power =
            isWhole && Math.Abs(exponent) <= MaxWholeExponent
                ? OfWhole(magnitude, (int)exponent)
                : OfReal(magnitude, exponent);
        return number < 0 && isOdd ? -power : power;
    }

    private static double OfExtremes(double number, double exponent, bool isOdd)
    {
        double magnitude = Math.Abs(number);
        if (magnitude == 1)
        {
            return 1;
        }

        double power = (magnitude > 1) == (exponent > 0) ? double.PositiveInfinity : 0;
        return isOdd && double.IsNegative(number) ? -power : power;
    }

    /// <summary>Computes an integral power by repeated squaring. Powers of two are counted separately.</summary>
    private static double OfWhole(double number, int exponent)
    {
        var (mantissa, shift) = Split(number);
        var (square, squareShift) = (new Pair(mantissa, 0), (long)shift);
        var (power, powerShift) = (new Pair(1, 0), 0L);
        for (int remainingBits = Math.Abs(exponent); remainingBits > 0; remainingBits >>= 1)
        {
            if ((remainingBits & 1) != 0)
            {
                (power, powerShift) = Normal(power.Times(square), powerShift + squareShift);
            }

            (square, squareShift) = Normal(square.Times(square), 2 * squareShift);
        }

        return exponent < 0 ? Scaled(new Pair(1, 0).DividedBy(power), -powerShift) : Scaled(power, powerShift);
    }

    /// <summary>Computes any other power by logarithm and exponential.</summary>
    private static double OfReal(double number, double exponent)
    {
        // Beyond this logarithm all powers are infinite or 0.
        const double MaxLogarithm = 1500;
        var logarithm = Logarithm(number).Times(new Pair(exponent, 0));
        if (Math.Abs(logarithm.High) > MaxLogarithm)
        {
            return logarithm.High > 0 ? double.PositiveInfinity : 0;
        }

        return Exponential(logarithm);
    }

    private static Pair Logarithm(double number)
    {
        var (mantissa, shift) = Split(number);

        // ln m = 2 artanh((m - 1) / (m + 1)).
        var ratio = Pair.Sum(mantissa, -1).DividedBy(Pair.Sum(mantissa, 1));
        var square = ratio.Times(ratio);
        var sum = default(Pair);
        for (int term = TermsOfLogarithm; term >= 0; term--)
        {
            sum = sum.Times(square).Plus(new Pair(1, 0).DividedBy(new Pair((2 * term) + 1, 0)));
        }

        return sum.Times(ratio).Times(new Pair(2, 0)).Plus(Ln2.Times(new Pair(shift, 0)));
    }

    private static double Exponential(Pair value)
    {
        double shift = Math.Round(value.High / Ln2.High);
        var remainder = value.Plus(Ln2.Times(new Pair(-shift, 0)));
        var sum = new Pair(1, 0);
        for (int term = TermsOfExponential; term > 0; term--)
        {
            sum = sum.Times(remainder).DividedBy(new Pair(term, 0)).Plus(new Pair(1, 0));
        }

        return Scaled(sum, (long)shift);
    }

    /// <summary>Returns a number as a mantissa from √½ to √2 and a power of two.</summary>
    private static (double Mantissa, int Shift) Split(double number)
    {
        int shift = Math.ILogB(number);
        double mantissa = Math.ScaleB(number, -shift);
        return mantissa > 1.4142135623730951 ? (mantissa / 2, shift + 1) : (mantissa, shift);
    }

    private static (Pair Value, long Shift) Normal(Pair value, long shift)
    {
        int extraShift = Math.ILogB(value.High);
        return (
            new Pair(Math.ScaleB(value.High, -extraShift), Math.ScaleB(value.Low, -extraShift)),
            shift + extraShift
        );
    }

    // Beyond these bounds, the result is infinite or 0 anyway.
    private static double Scaled(Pair value, long shift) =>
        Math.ScaleB(value.High + value.Low, (int)Math.Clamp(shift, -5000, 5000));

    /// <summary>An unevaluated sum of two doubles; the second is smaller than the last bit of the first.</summary>
    private readonly record struct Pair(double High, double Low)
    {
        /// <summary>Returns the exact sum of two doubles.</summary>
        public static Pair Sum(double left, double right)
        {
            double sum = left + right;
            double part = sum - left;
            return new Pair(sum, (left - (sum - part)) + (right - part));
        }

        public Pair Plus(Pair other)
        {
            var sum = Sum(High, other.High);
            return Sum(sum.High, sum.Low + Low + other.Low);
        }

        public Pair Times(Pair other)
        {
            double product = High * other.High;
            double error = Math.FusedMultiplyAdd(High, other.High, -product);
            return Sum(product, error + ((High * other.Low) + (Low * other.High)));
        }

        public Pair DividedBy(Pair other)
        {
            double quotient = High / other.High;
            var remainder = Plus(other.Times(new Pair(-quotient, 0)));
            double second = remainder.High / other.High;
            var last = remainder.Plus(other.Times(new Pair(-second, 0)));
            return Sum(quotient, second).Plus(new Pair(last.High / other.High, 0));
        }
    }
}
