using System.Text;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Tests;

/// <summary>A reduce reads the sums of its pages again, so no sum may lose a digit.</summary>
public sealed class DecimalSumTests
{
    [Theory]
    [InlineData("12345678901234567890123456789")]
    [InlineData("0.12345678901234567890123456789")]
    [InlineData("1e-5")]
    public void A_number_with_more_digits_than_a_decimal_is_not_read(string number) =>
        Assert.False(DecimalSum.TryRead(Encoding.ASCII.GetBytes(number), out _));

    [Theory]
    [InlineData(41.3469537353827, 980.244620693961, 1021.5915744293437)]
    [InlineData(0.1, 0.2, 0.3)]
    [InlineData(1.5, 2.5, 4)]
    public void A_sum_of_doubles_is_the_double_nearest_to_the_decimal_sum(double left, double right, double sum) =>
        Assert.Equal(sum, DecimalSum.Add(left, right));
}
