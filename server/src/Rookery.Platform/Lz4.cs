using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// LZ4 blocks (lz4_Block_format.md), by the system's liblz4.so.1, which is part of every Debian base.
/// </summary>
public static partial class Lz4
{
    private const string Library = "liblz4.so.1";

    /// <summary>The largest input that <see cref="Compress"/> takes: LZ4_MAX_INPUT_SIZE, 2,113,929,216 bytes.</summary>
    public const int LargestInputBytes = 0x7E000000;

    /// <summary>Compresses <paramref name="source"/> into the beginning of <paramref name="destination"/>.</summary>
    /// <returns>Bytes written; 0 when they do not fit, and then the destination's content is undefined. Give it less
    /// room than the source to learn whether it helps.</returns>
    public static unsafe int Compress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(source.Length, LargestInputBytes);
        if (destination.IsEmpty)
        {
            return 0;
        }

        byte nothing = 0;
        fixed (byte* from = source)
        fixed (byte* to = destination)
        {
            return CompressDefault(from is null ? &nothing : from, to, source.Length, destination.Length);
        }
    }

    /// <summary>Expands a block whose expanded length is known.</summary>
    /// <returns>Whether <paramref name="source"/> is a well-formed block of exactly <paramref name="destination"/>'s
    /// length. Never reads or writes beyond the spans.</returns>
    public static unsafe bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        if (source.IsEmpty)
        {
            return false;
        }

        byte nothing = 0;
        fixed (byte* from = source)
        fixed (byte* to = destination)
        {
            return DecompressSafe(from, to is null ? &nothing : to, source.Length, destination.Length)
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
