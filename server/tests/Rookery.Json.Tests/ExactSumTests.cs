using System.Text;

namespace Rookery.Json.Tests;

/// <summary>Sums of decimal numbers, which have every digit.</summary>
public sealed class ExactSumTests
{
    [Theory]
    [InlineData("1234567.123456789012345678")]
    [InlineData("-123456789012345678901.1234567")]
    [InlineData("1e-27")]
    [InlineData("-1.2345678901234567890123456789012345678901e+300")]
    [InlineData("4.9406564584124654e-324")]
    [InlineData("1.7976931348623157e+308")]
    [InlineData("3e+329")]
    [InlineData("0.000001")]
    [InlineData("100000000000000000000")]
    [InlineData("0")]
    public void A_written_number_is_read_with_all_its_digits(string number) => Assert.Equal(number, SumOf(number));

    [Theory]
    [InlineData("1.000000000000000000000000000000000000000000000000000000000001e+30", "1e30", "1e-30")]
    [InlineData("0", "1e308", "1e308", "-2e308")]
    [InlineData("1.7976931348623157e+308", "1e400")]
    [InlineData("0", "1e400", "-1e400")]
    [InlineData("0", "1e-400")]
    [InlineData("0", "0e999", "-0", "0.0e-999")]
    [InlineData("0.5", "1", "-0.5")]
    [InlineData("-0.999999999999999999999999999999", "-1", "1e-30")]
    [InlineData("1", "0.000000000000000000000001", "0.999999999999999999999999")]
    [InlineData("9223372036854775808", "9223372036854775807", "1")]
    [InlineData("-0.1", "0.2", "-0.3")]
    public void Numbers_of_any_size_are_added(string sum, params string[] numbers) => Assert.Equal(sum, SumOf(numbers));

    [Fact]
    public void The_longest_sum_fits_into_its_buffer()
    {
        // The most digits that a sum keeps before and after the point.
        string greatest = "9" + new string('9', 329);
        string least = "0." + new string('9', 340);
        var sum = default(ExactSum);
        for (int i = 0; i < 1000; i++)
        {
            sum.Add(Encoding.ASCII.GetBytes(greatest));
            sum.Add(Encoding.ASCII.GetBytes(least));
        }

        Span<byte> buffer = stackalloc byte[ExactSum.MaxBytes];
        Assert.InRange(sum.WriteReal(buffer), 330 + 340, ExactSum.MaxBytes);
    }

    [Theory]
    [InlineData("1e308 1e308 1e308", 1e308)]
    [InlineData("1e308 1e308 1 1", 5e307)]
    [InlineData("-1e308 -1e308 -1e308 -1e308", -1e308)]
    [InlineData("1e300 -1e300 9", 3)]
    [InlineData("0.1 0.2", 0.15)]
    [InlineData("0.1 0.1 0.1", 0.1)]
    [InlineData("1.1 2.2 3.3", 2.2)]
    [InlineData("-5 -5 -4", -14.0 / 3)]
    [InlineData("9007199254740993 9007199254740993", 9007199254740992)]
    [InlineData("1e-30 3e-30", 2e-30)]
    public void The_average_is_the_double_nearest_to_the_exact_quotient(string numbers, double expected)
    {
        string[] numberTexts = numbers.Split(' ');
        var sum = default(ExactSum);
        Array.ForEach(numberTexts, number => sum.Add(Encoding.ASCII.GetBytes(number)));
        Assert.Equal(expected, sum.Average(numberTexts.Length));
    }

    private static string SumOf(params string[] numbers)
    {
        var sum = default(ExactSum);
        Array.ForEach(numbers, number => sum.Add(Encoding.ASCII.GetBytes(number)));
        Span<byte> buffer = stackalloc byte[ExactSum.MaxBytes];
        string written = Encoding.ASCII.GetString(buffer[..sum.Write(buffer)]);
        // Subtracting the same numbers leaves 0.
        Array.ForEach(numbers, number => sum.Subtract(Encoding.ASCII.GetBytes(number)));
        Assert.True(sum.TryGetWhole(out long remainder));
        Assert.Equal(0, remainder);
        return written;
    }
}
