namespace Rookery.Journal.Tests;

/// <summary>The stored form of a frame's content: compressed if that saves space, and with a checksum.</summary>
public sealed class PayloadTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(5000)]
    [InlineData(2_000_000)]
    public void Any_content_is_decoded_unchanged(int length)
    {
        byte[] content = new byte[length];
        new Random(length).NextBytes(content);
        Assert.Equal(content, Decode(TestJournal.Encode(content)));
    }

    [Fact]
    public void Compressible_content_is_compressed_unless_it_fits_into_a_block()
    {
        Assert.InRange(TestJournal.Encode(new byte[100_000]).Length, 1, 1000);
        Assert.Equal(3000 + Payload.OverheadBytes, TestJournal.Encode(new byte[3000]).Length);
    }

    [Fact]
    public void Every_flipped_bit_is_detected()
    {
        byte[] encoded = TestJournal.Encode([.. Enumerable.Range(0, 6000).Select(i => (byte)(i / 50))]);
        for (int bit = 0; bit < encoded.Length * 8; bit++)
        {
            encoded[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.Null(Decode(encoded));
            encoded[bit / 8] ^= (byte)(1 << (bit % 8));
        }

        Assert.NotNull(Decode(encoded));
    }

    [Fact]
    public void A_mark_is_read_without_decoding_and_changes_no_content()
    {
        byte[] content = [1, 2, 3];
        byte[] encoded = new byte[Payload.MaxEncodedLength(content.Length)];
        Payload.Encode(content, encoded, isMarked: true);
        Assert.True(Payload.IsMarked(encoded));
        Assert.Equal(content, Decode(encoded));
        Assert.False(Payload.IsMarked(TestJournal.Encode(content)));
        Assert.False(Payload.IsMarked([]));
    }

    [Fact]
    public void Garbage_is_no_payload()
    {
        byte[] shorterThanAnyPayload = new byte[11];
        byte[] unknownEncoding = [9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0];
        byte[] negativeLength = [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0];
        Assert.Equal(-1, Payload.ContentLength([]));
        Assert.Equal(-1, Payload.ContentLength(shorterThanAnyPayload));
        Assert.Equal(-1, Payload.ContentLength(unknownEncoding));
        Assert.Equal(-1, Payload.ContentLength(negativeLength));
    }

    private static byte[]? Decode(byte[] encoded)
    {
        int length = Payload.ContentLength(encoded);
        byte[] content = new byte[Math.Clamp(length, 0, 1 << 24)];
        return length >= 0 && Payload.TryDecode(encoded, content) ? content : null;
    }
}
