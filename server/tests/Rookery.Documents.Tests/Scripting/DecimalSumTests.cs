using System.Globalization;
using System.Text;
using Rookery.Documents.Scripting;

namespace Rookery.Documents.Tests.Scripting;

/// <summary>A reduce reads the sums of its pages again, so none may lose a digit on the way.</summary>
public sealed class DecimalSumTests
{
    [Theory]
    [InlineData("1234567.123456789012345678")]
    [InlineData("-123456789012345678901.1234567")]
    [InlineData("0.000000000000000000000000001")]
    public void What_was_written_is_read_with_all_digits(string number)
    {
        Span<byte> written = stackalloc byte[DecimalSum.MostBytes];
        int length = DecimalSum.Write(decimal.Parse(number, CultureInfo.InvariantCulture), written);
        Assert.True(DecimalSum.TryRead(written[..length], out decimal read));
        Assert.Equal(number, read.ToString(CultureInfo.InvariantCulture));
    }

    [Theory]
    [InlineData("12345678901234567890123456789")]
    [InlineData("0.12345678901234567890123456789")]
    public void What_a_decimal_may_not_hold_whole_is_not_read(string number) =>
        Assert.False(DecimalSum.TryRead(Encoding.ASCII.GetBytes(number), out _));
}
