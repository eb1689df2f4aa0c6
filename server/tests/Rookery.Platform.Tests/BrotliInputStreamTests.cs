using System.IO.Compression;
using Rookery.Platform.Compression;

namespace Rookery.Platform.Tests;

public sealed class BrotliInputStreamTests
{
    private const int TextBytes = 300_000;

    [Theory]
    [InlineData(1)]
    [InlineData(1000)]
    [InlineData(2 * TextBytes)]
    public async Task Decompressed_bytes_are_those_that_were_compressed(int bufferBytes)
    {
        byte[] text = Text();
        await using var stream = new BrotliInputStream(new MemoryStream(Compress(text)));
        var read = new MemoryStream();
        byte[] buffer = new byte[bufferBytes];
        for (int count; (count = await stream.ReadAsync(buffer)) > 0; )
        {
            read.Write(buffer, 0, count);
        }

        Assert.Equal(text, read.ToArray());
    }

    [Fact]
    public void Incomplete_data_is_refused()
    {
        byte[] packed = Compress(Text());
        using var stream = new BrotliInputStream(new MemoryStream(packed[..^1]));
        Assert.Throws<InvalidDataException>(() => stream.CopyTo(Stream.Null));
    }

    [Fact]
    public void Damaged_data_is_refused()
    {
        byte[] packed = Compress(Text());
        packed.AsSpan(0, 20).Fill(0xFF);
        using var stream = new BrotliInputStream(new MemoryStream(packed));
        Assert.Throws<InvalidDataException>(() => stream.CopyTo(Stream.Null));
    }

    private static byte[] Text()
    {
        byte[] text = new byte[TextBytes];
        uint state = 1;
        for (int i = 0; i < text.Length; i++)
        {
            state = (state * 1664525) + 1013904223;
            text[i] = (byte)"abcdefgh"[(int)(state >> 29)];
        }

        return text;
    }

    private static byte[] Compress(byte[] text)
    {
        var packed = new MemoryStream();
        using (var compressor = new BrotliStream(packed, CompressionMode.Compress))
        {
            compressor.Write(text);
        }

        return packed.ToArray();
    }
}
