namespace Rookery.Platform.Tests;

public sealed class ChecksumTests
{
    [Fact]
    public void The_check_value_of_the_RFC_comes_out() => Assert.Equal(0xE3069283u, Checksum.Of("123456789"u8));

    [Fact]
    public void Parts_of_any_length_give_the_checksum_of_the_whole()
    {
        byte[] data = new byte[100];
        new Random(3).NextBytes(data);
        for (int cut = 0; cut <= data.Length; cut++)
        {
            uint state = Checksum.Append(Checksum.Append(Checksum.Start, data.AsSpan(0, cut)), data.AsSpan(cut));
            Assert.Equal(Checksum.Of(data), Checksum.Finish(state));
        }
    }
}
