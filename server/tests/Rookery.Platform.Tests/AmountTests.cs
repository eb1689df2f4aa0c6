namespace Rookery.Platform.Tests;

/// <summary>Amounts of bytes in messages.</summary>
public sealed class AmountTests
{
    /// <summary>The same cases as in format.test.ts of the dashboard.</summary>
    [Theory]
    [InlineData(0, "0 B")]
    [InlineData(-0.4, "0 B")]
    [InlineData(1023, "1023 B")]
    [InlineData(1024, "1.0 KiB")]
    [InlineData(99.94 * 1024, "99.9 KiB")]
    [InlineData(99.96 * 1024, "100 KiB")]
    [InlineData(1023.6 * 1024, "1.0 MiB")]
    [InlineData(-1073741824.0, "−1.0 GiB")]
    [InlineData(1125899906842624.0, "1.0 PiB")]
    public void Bytes_are_formatted_in_the_largest_unit_that_is_not_above_the_amount(double bytes, string expected) =>
        Assert.Equal(expected, Amount.Bytes(bytes));

    [Fact]
    public void Bytes_and_the_limit_that_they_exceed_are_never_formatted_as_the_same_text()
    {
        Assert.Equal(("9.0 MiB", "8.0 MiB"), Amount.BytesOver(bytes: 9 << 20, limit: 8 << 20));
        Assert.Equal(("8,388,609 B", "8,388,608 B"), Amount.BytesOver((8 << 20) + 1, limit: 8 << 20));
    }
}
