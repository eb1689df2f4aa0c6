using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Compresses LZ4 blocks (lz4_Block_format.md) with the system's liblz4.so.1, which is part of every Debian base.
/// </summary>
public static partial class Lz4
{
    private const string Library = "liblz4.so.1";
    private const string CompressName = "LZ4_compress_default";
    private const string DecompressName = "LZ4_decompress_safe";

    private static readonly Lazy<string?> Unusable = new(static () =>
        SystemLibrary.Has(Library, CompressName, DecompressName)
            ? WhyWrong(Compress, TryDecompress)
            : $"{Library} is missing, or another library has its name. A node compresses its data with it: install "
                + "Debian's package liblz4-1, and start again."
    );

    /// <summary>The largest input of <see cref="Compress"/>: LZ4_MAX_INPUT_SIZE, 2,113,929,216 bytes.</summary>
    public const int LargestInputBytes = 0x7E000000;

    /// <summary>Compresses a block, as <see cref="Compress"/>.</summary>
    internal delegate int Compressor(ReadOnlySpan<byte> source, Span<byte> destination);

    /// <summary>Decompresses a block, as <see cref="TryDecompress"/>.</summary>
    internal delegate bool Decompressor(ReadOnlySpan<byte> source, Span<byte> destination);

    /// <summary>
    /// Checks, once in each process, that the library is installed and works. Call it before data is opened. Without
    /// the library, the first write that can be compressed would end the process. If the library compressed wrongly,
    /// acknowledged writes could not be read.
    /// </summary>
    /// <exception cref="SystemLibraryException">It is not installed, or does not work.</exception>
    public static void Require()
    {
        if (Unusable.Value is { } reason)
        {
            throw new SystemLibraryException(reason);
        }
    }

    /// <summary>
    /// Returns why the functions do not compress and decompress LZ4 blocks, in sentences; null if they do.
    /// </summary>
    internal static string? WhyWrong(Compressor compress, Decompressor decompress)
    {
        // Eight literals, a match of 40 bytes that begins 8 bytes earlier, and five literals.
        ReadOnlySpan<byte> block = [0x8F, .. "rookery "u8, 8, 0, 0x15, 0x50, .. "nest!"u8];
        ReadOnlySpan<byte> text = "rookery rookery rookery rookery rookery rookery nest!"u8;
        byte[] compressed = new byte[text.Length];
        int length = compress(text, compressed);
        return
            length > 0
            && length < text.Length
            && IsDecompressed(block, text, decompress)
            && IsDecompressed(compressed.AsSpan(0, length), text, decompress)
            ? null
            : $"{Library} does not compress as LZ4 does, so the data that a node writes with it could not be read. "
                + "Install Debian's package liblz4-1 again, and start again.";
    }

    private static bool IsDecompressed(ReadOnlySpan<byte> block, ReadOnlySpan<byte> expected, Decompressor decompress)
    {
        byte[] text = new byte[expected.Length];
        return decompress(block, text) && expected.SequenceEqual(text);
    }

    /// <summary>Compresses <paramref name="source"/> to the beginning of <paramref name="destination"/>.</summary>
    /// <returns>
    /// Number of bytes written; 0 when they do not fit, and then the content of the destination is undefined. A
    /// destination smaller than the source shows whether compression saves space.
    /// </returns>
    public static unsafe int Compress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(source.Length, LargestInputBytes);
        if (destination.IsEmpty)
        {
            return 0;
        }

        byte emptyInput = 0; // liblz4 needs an address, and that of an empty span is null
        fixed (byte* from = source)
        fixed (byte* to = destination)
        {
            return CompressDefault(from is null ? &emptyInput : from, to, source.Length, destination.Length);
        }
    }

    /// <summary>Decompresses a block whose decompressed length is known.</summary>
    /// <returns>
    /// Whether <paramref name="source"/> is a valid block of exactly the length of <paramref name="destination"/>.
    /// Never reads or writes outside the spans.
    /// </returns>
    public static unsafe bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        if (source.IsEmpty)
        {
            return false;
        }

        byte emptyOutput = 0; // liblz4 needs an address, and that of an empty span is null
        fixed (byte* from = source)
        fixed (byte* to = destination)
        {
            return DecompressSafe(from, to is null ? &emptyOutput : to, source.Length, destination.Length)
                == destination.Length;
        }
    }

    [LibraryImport(Library, EntryPoint = CompressName)]
    private static unsafe partial int CompressDefault(
        byte* source,
        byte* destination,
        int sourceBytes,
        int destinationBytes
    );

    [LibraryImport(Library, EntryPoint = DecompressName)]
    private static unsafe partial int DecompressSafe(
        byte* source,
        byte* destination,
        int sourceBytes,
        int destinationBytes
    );
}
