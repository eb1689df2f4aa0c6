namespace Rookery.Platform.Tests;

/// <summary>The checksum of stored data.</summary>
public sealed class ChecksumTests
{
    [Fact]
    public void The_checksum_equals_the_check_value_of_the_RFC() =>
        Assert.Equal(0xE3069283u, Checksum.Of("123456789"u8));

    [Fact]
    public void The_checksum_is_the_same_however_the_data_are_split()
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
