using System.Globalization;
using System.Numerics;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Tests;

/// <summary>Powers are rounded correctly, so all processors compute the same digits.</summary>
public sealed class PortablePowerTests
{
    [Fact]
    public void An_integral_power_is_the_double_nearest_to_the_exact_value()
    {
        var random = new Random(20261127);
        for (int run = 0; run < 5000; run++)
        {
            // The numbers have up to 2 to 41 bits.
            int exponent = random.Next(2, 12);
            long number = random.NextInt64(1, 1L << (run % 40 + 2));
            string digits = BigInteger.Pow(number, exponent).ToString(CultureInfo.InvariantCulture);
            Assert.Equal(double.Parse(digits, CultureInfo.InvariantCulture), PortablePower.Of(number, exponent));
        }
    }

    [Theory]
    [InlineData(2.0, 0.5, 1.4142135623730951)]
    [InlineData(10.0, -3.0, 0.001)]
    [InlineData(10.0, 308.0, 1e308)]
    [InlineData(10.0, 309.0, double.PositiveInfinity)]
    [InlineData(10.0, -400.0, 0.0)]
    [InlineData(2.0, -1074.0, 5e-324)]
    [InlineData(1.5, 100.0, 406561177535215232.0)]
    [InlineData(-8.0, 1.0 / 3, double.NaN)]
    [InlineData(-2.0, 3.0, -8.0)]
    [InlineData(-2.0, 2.0, 4.0)]
    [InlineData(0.0, -1.0, double.PositiveInfinity)]
    [InlineData(-0.0, -1.0, double.NegativeInfinity)]
    [InlineData(0.0, 0.0, 1.0)]
    [InlineData(double.NaN, 0.0, 1.0)]
    [InlineData(1.0, double.NaN, 1.0)]
    [InlineData(double.NegativeInfinity, 3.0, double.NegativeInfinity)]
    [InlineData(double.NegativeInfinity, -3.0, -0.0)]
    [InlineData(-1.0, double.PositiveInfinity, 1.0)]
    [InlineData(0.5, double.PositiveInfinity, 0.0)]
    [InlineData(0.5, double.NegativeInfinity, double.PositiveInfinity)]
    public void A_power_is_that_of_Math_Pow(double number, double exponent, double power)
    {
        Assert.Equal(power, PortablePower.Of(number, exponent));
        Assert.Equal(double.IsNegative(power), double.IsNegative(PortablePower.Of(number, exponent)));
    }

    /// <summary>.NET's result differs by less than one unit of the last digit.</summary>
    [Fact]
    public void A_power_differs_from_that_of_NET_by_one_digit_at_most()
    {
        var random = new Random(20261127);
        for (int run = 0; run < 20_000; run++)
        {
            double number = Math.Pow(10, (random.NextDouble() * 40) - 20);
            double exponent = (random.NextDouble() * 30) - 15;
            double power = PortablePower.Of(number, exponent);
            double expected = Math.Pow(number, exponent);
            long lastDigits = BitConverter.DoubleToInt64Bits(power) - BitConverter.DoubleToInt64Bits(expected);
            Assert.True(
                Math.Abs(lastDigits) <= 1,
                $"{number:R} ^ {exponent:R} is {power:R}, more than a digit from .NET's {expected:R}"
            );
        }
    }
}
