namespace Rookery.Platform.Tests;

public sealed unsafe class VarintTests
{
    [Theory]
    [InlineData("FFFFFFFF07", int.MaxValue)]
    [InlineData("8000", 0)]
    [InlineData("FFFFFFFF0F", null)]
    [InlineData("8080808010", null)]
    [InlineData("8180808010", null)]
    [InlineData("808080808001", null)]
    [InlineData("80", null)]
    public void A_number_beyond_32_bits_is_refused(string bytes, int? number)
    {
        int position = 0;
        bool isRead = Varint.TryRead(Convert.FromHexString(bytes), ref position, out int read);
        Assert.Equal(number, isRead ? read : null);
    }

    [Theory]
    [InlineData("FFFFFFFFFFFFFFFFFF01", ulong.MaxValue)]
    [InlineData("FFFFFFFFFFFFFFFFFF02", null)]
    [InlineData("8080808080808080807F", null)]
    [InlineData("8080808080808080808001", null)]
    public void A_number_beyond_64_bits_is_refused(string bytes, ulong? number)
    {
        byte[] source = Convert.FromHexString(bytes);
        fixed (byte* start = source)
        {
            byte* at = start;
            bool isRead = Varint.TryRead(ref at, start + source.Length, out ulong read);
            Assert.Equal(number, isRead ? read : null);
        }

        int position = 0;
        if (number is null)
        {
            Assert.Throws<InvalidDataException>(() => Varint.Read(source, ref position));
        }
        else
        {
            Assert.Equal(number, Varint.Read(source, ref position));
        }
    }
}
