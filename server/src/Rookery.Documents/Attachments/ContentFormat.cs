using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>
/// The file of a content, version 1: <c>[bytes][CRC-32C u32 of each chunk of 64 KiB][footer]</c>. The footer:
/// <c>[8 "ROOKATCH"][version u32][database u32][size u64][hash 32 bytes][CRC-32C u32 of the table and of the footer
/// before it][u32 0]</c>. Integers are little-endian.
/// </summary>
internal static class ContentFormat
{
    public const int ChunkBytes = 64 << 10;
    public const int FooterBytes = 64;

    private const uint Version = 1;
    private const int DatabaseOffset = 12;
    private const int SizeOffset = 16;
    private const int HashOffset = 24;
    private const int ChecksumOffset = HashOffset + ContentHash.Length;

    private static ReadOnlySpan<byte> Magic => "ROOKATCH"u8;

    /// <summary>Returns the number of chunks of a content.</summary>
    public static int ChunkCount(long size) => checked((int)((size + ChunkBytes - 1) / ChunkBytes));

    /// <summary>Returns the length of the file of a content.</summary>
    public static long FileLength(long size) => size + ((long)ChunkCount(size) * sizeof(uint)) + FooterBytes;

    /// <summary>Returns the table of checksums and the footer.</summary>
    public static byte[] WriteEnd(ReadOnlySpan<uint> checksums, uint database, long size, ContentHash hash)
    {
        byte[] end = new byte[(checksums.Length * sizeof(uint)) + FooterBytes];
        for (int i = 0; i < checksums.Length; i++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(end.AsSpan(i * sizeof(uint)), checksums[i]);
        }

        var footer = end.AsSpan(checksums.Length * sizeof(uint));
        Magic.CopyTo(footer);
        BinaryPrimitives.WriteUInt32LittleEndian(footer[Magic.Length..], Version);
        BinaryPrimitives.WriteUInt32LittleEndian(footer[DatabaseOffset..], database);
        BinaryPrimitives.WriteInt64LittleEndian(footer[SizeOffset..], size);
        hash.Write(footer[HashOffset..]);
        BinaryPrimitives.WriteUInt32LittleEndian(footer[ChecksumOffset..], ChecksumOf(end));
        return end;
    }

    /// <summary>Reads and checks the end of a file.</summary>
    /// <param name="file">The file.</param>
    /// <param name="place">The content that the file must contain.</param>
    /// <param name="size">Size of the content in bytes.</param>
    /// <returns>What is wrong, in a few words; null if nothing is.</returns>
    public static string? ReadEnd(IDiskFile file, ContentPlace place, out long size)
    {
        size = 0;
        Span<byte> footer = stackalloc byte[FooterBytes];
        long length = file.Length;
        if (length < FooterBytes || file.Read(footer, length - FooterBytes) != FooterBytes)
        {
            return "it is too short";
        }

        if (!footer.StartsWith(Magic))
        {
            return "its footer does not begin with the right bytes";
        }

        if (BinaryPrimitives.ReadUInt32LittleEndian(footer[Magic.Length..]) is var version && version != Version)
        {
            return $"its footer names version {version}, and this program reads {Version}";
        }

        size = BinaryPrimitives.ReadInt64LittleEndian(footer[SizeOffset..]);
        if (size < 0 || size > length || FileLength(size) != length)
        {
            return "its length is not the one in its footer";
        }

        if (BinaryPrimitives.ReadUInt32LittleEndian(footer[ChecksumOffset..]) != ReadChecksum(file, size, footer))
        {
            return "the checksum of its footer does not match";
        }

        return
            BinaryPrimitives.ReadUInt32LittleEndian(footer[DatabaseOffset..]) != place.Database
            || ContentHash.Read(footer[HashOffset..]) != place.Hash
            ? "its footer names another content"
            : null;
    }

    /// <summary>Reads the checksum of a chunk.</summary>
    public static uint ReadChunkChecksum(IDiskFile file, long size, int index)
    {
        Span<byte> checksum = stackalloc byte[sizeof(uint)];
        file.Read(checksum, size + ((long)index * sizeof(uint)));
        return BinaryPrimitives.ReadUInt32LittleEndian(checksum);
    }

    // Reads the table in pieces, so that a reader of a large content holds no table.
    private static uint ReadChecksum(IDiskFile file, long size, ReadOnlySpan<byte> footer)
    {
        const int PieceBytes = 4096;
        Span<byte> piece = stackalloc byte[PieceBytes];
        uint state = Checksum.Start;
        long end = size + ((long)ChunkCount(size) * sizeof(uint));
        for (long at = size; at < end; )
        {
            int read = file.Read(piece[..(int)Math.Min(PieceBytes, end - at)], at);
            if (read == 0)
            {
                break; // truncated meanwhile: the checksum does not match
            }

            state = Checksum.Append(state, piece[..read]);
            at += read;
        }

        return Checksum.Finish(Checksum.Append(state, footer[..ChecksumOffset]));
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> end) => Checksum.Of(end[..^(FooterBytes - ChecksumOffset)]);
}
