using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Compresses LZ4 blocks (lz4_Block_format.md) with the system's liblz4.so.1, which is part of every Debian base.
/// </summary>
public static partial class Lz4
{
    private const string Library = "liblz4.so.1";

    /// <summary>The largest input of <see cref="Compress"/>: LZ4_MAX_INPUT_SIZE, 2,113,929,216 bytes.</summary>
    public const int LargestInputBytes = 0x7E000000;

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

        byte emptyInput = 0; // liblz4 needs an address, and that of an empty span is null
        fixed (byte* from = source)
        fixed (byte* to = destination)
        {
            return DecompressSafe(from, to is null ? &emptyInput : to, source.Length, destination.Length)
                == destination.Length;
        }
    }

    [LibraryImport(Library, EntryPoint = "LZ4_compress_default")]
    private static unsafe partial int CompressDefault(
        byte* source,
        byte* destination,
        int sourceBytes,
        int destinationBytes
    );

    [LibraryImport(Library, EntryPoint = "LZ4_decompress_safe")]
    private static unsafe partial int DecompressSafe(
        byte* source,
        byte* destination,
        int sourceBytes,
        int destinationBytes
    );
}
