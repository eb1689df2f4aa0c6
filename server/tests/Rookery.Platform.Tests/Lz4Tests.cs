namespace Rookery.Platform.Tests;

/// <summary>Compression by the system's LZ4 library.</summary>
public sealed class Lz4Tests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(300)]
    [InlineData(100_000)]
    public void Decompressing_returns_the_compressed_bytes(int length)
    {
        var random = new Random(length);
        byte[] source = new byte[length];
        for (int i = 0; i < length; i++)
        {
            source[i] = (byte)random.Next(4); // so few values can be compressed
        }

        byte[] block = new byte[RoomFor(length)];
        int written = Lz4.Compress(source, block);
        Assert.True(written > 0);
        byte[] decompressed = new byte[length];
        Assert.True(Lz4.TryDecompress(block.AsSpan(0, written), decompressed));
        Assert.Equal(source, decompressed);
    }

    [Fact]
    public void Noise_is_not_compressed_to_fewer_bytes()
    {
        byte[] noise = new byte[4096];
        new Random(1).NextBytes(noise);
        Assert.Equal(0, Lz4.Compress(noise, new byte[4095]));
        Assert.Equal(0, Lz4.Compress(noise, destination: []));
    }

    [Fact]
    public void A_wrong_length_or_damage_is_reported_without_an_exception()
    {
        byte[] source = new byte[1000];
        byte[] block = new byte[RoomFor(1000)];
        int written = Lz4.Compress(source, block);
        Assert.False(Lz4.TryDecompress(block.AsSpan(0, written), new byte[999]));
        Assert.False(Lz4.TryDecompress(block.AsSpan(0, written), new byte[1001]));
        Assert.False(Lz4.TryDecompress(block.AsSpan(0, written - 1), new byte[1000]));
        Assert.False(Lz4.TryDecompress(source: [], new byte[1000]));
        Assert.False(Lz4.TryDecompress(source: [], destination: []));

        // Random bytes are seldom a valid block. Whatever they are, no exception is thrown.
        var random = new Random(2);
        byte[] noise = new byte[64];
        for (int i = 0; i < 10_000; i++)
        {
            random.NextBytes(noise);
            _ = Lz4.TryDecompress(noise, new byte[random.Next(200)]);
        }
    }

    [Fact]
    public void A_library_that_compresses_or_decompresses_wrongly_is_refused()
    {
        Lz4.Require();
        Assert.Null(Lz4.WhyWrong(Lz4.Compress, Lz4.TryDecompress));

        // One that copies can read what it wrote, but neither compresses nor reads what LZ4 wrote.
        Assert.NotNull(Lz4.WhyWrong(Copy, TryCopy));
        Assert.NotNull(Lz4.WhyWrong(Copy, Lz4.TryDecompress));
        Assert.NotNull(Lz4.WhyWrong(Lz4.Compress, TryCopy));
        Assert.NotNull(Lz4.WhyWrong(static (_, _) => 0, Lz4.TryDecompress));
        Assert.NotNull(Lz4.WhyWrong(static (_, _) => 20, Lz4.TryDecompress));
        Assert.NotNull(Lz4.WhyWrong(static (_, _) => -1, Lz4.TryDecompress));
        Assert.NotNull(Lz4.WhyWrong(static (_, _) => int.MaxValue, Lz4.TryDecompress));
        Assert.NotNull(Lz4.WhyWrong(Lz4.Compress, static (_, _) => true));
        Assert.NotNull(Lz4.WhyWrong(Lz4.Compress, static (_, _) => false));

        static int Copy(ReadOnlySpan<byte> source, Span<byte> destination)
        {
            source.CopyTo(destination);
            return source.Length;
        }

        static bool TryCopy(ReadOnlySpan<byte> source, Span<byte> destination)
        {
            source.CopyTo(destination);
            return true;
        }
    }

    [Fact]
    public void A_library_counts_as_installed_only_with_all_its_functions()
    {
        Assert.True(SystemLibrary.Has("liblz4.so.1", "LZ4_compress_default", "LZ4_decompress_safe"));
        Assert.False(SystemLibrary.Has("liblz4.so.1", "LZ4_compress_default", "ZSTD_createDStream"));
        Assert.False(SystemLibrary.Has("libnothing.so.1"));
    }

    /// <summary>Returns the room that any input of this size fits into: LZ4_COMPRESSBOUND.</summary>
    private static int RoomFor(int inputBytes) => inputBytes + (inputBytes / 255) + 16;
}
