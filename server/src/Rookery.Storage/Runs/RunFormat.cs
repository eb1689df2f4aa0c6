using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Format version 1 of a run. All numbers are little-endian.
/// <code>
/// header      magic "RKRYRUN\n", u32 version, u32 0, u64 file id, u32 0, u32 CRC
/// block *     u32 CRC, u32 raw bytes (top bit: the payload is LZ4), u32 rows, payload
///             raw = u16 prefix length, u64 base sequence, prefix, row *
///             row = varint suffix length, varint value length * 4 + kind, varint sequence - base, suffix, value
/// index       varint first offset, then per block: varint bytes on disk, varint separator length, separator
/// filter      lines of the Bloom filter; absent if the footer gives its length as 0
/// properties  smallest key, largest key (varint length, bytes), then per range tombstone: from, to exclusive,
///             varint sequence
/// footer      see <see cref="RunFooter"/>
/// </code>
/// A separator is the shortest key above the last key of the previous block and not above the first key of its own.
/// Every CRC-32C also covers the file id and the offset of the protected bytes, so a block of another file or offset
/// fails its check. Every byte of the file is protected by a checksum.
/// </summary>
internal static class RunFormat
{
    public const uint Version = 1;
    public const int HeaderBytes = 32;
    public const int BlockHeaderBytes = 12;
    public const int RawHeaderBytes = 10;
    public const uint CompressedFlag = 0x8000_0000;

    /// <summary>The largest raw block: one row with the longest key and value.</summary>
    public const int RawLimitBytes =
        RawHeaderBytes + RunWriter.KeyLimitBytes + RunWriter.ValueLimitBytes + (3 * Varint.MaxBytes64);

    private static ReadOnlySpan<byte> Magic => "RKRYRUN\n"u8;

    /// <summary>
    /// Returns the checksum of <paramref name="data"/> at <paramref name="offset"/> of file <paramref name="fileId"/>.
    /// </summary>
    public static uint ChecksumOf(long fileId, long offset, ReadOnlySpan<byte> data)
    {
        Span<byte> place = stackalloc byte[16];
        BinaryPrimitives.WriteInt64LittleEndian(place, fileId);
        BinaryPrimitives.WriteInt64LittleEndian(place[8..], offset);
        return Checksum.Finish(Checksum.Append(Checksum.Append(Checksum.Start, place), data));
    }

    public static void WriteHeader(Span<byte> header, long fileId)
    {
        header = header[..HeaderBytes];
        header.Clear();
        Magic.CopyTo(header);
        BinaryPrimitives.WriteUInt32LittleEndian(header[8..], Version);
        BinaryPrimitives.WriteInt64LittleEndian(header[16..], fileId);
        BinaryPrimitives.WriteUInt32LittleEndian(header[28..], ChecksumOf(fileId, 0, header[..28]));
    }

    /// <summary>Returns what is wrong with a header; null if it is valid.</summary>
    public static string? CheckHeader(ReadOnlySpan<byte> header, long fileId)
    {
        if (header.Length < HeaderBytes)
        {
            return "the file ends within its header";
        }

        if (!header.StartsWith(Magic))
        {
            return "it does not begin like a run";
        }

        uint version = BinaryPrimitives.ReadUInt32LittleEndian(header[8..]);
        if (version > Version)
        {
            return $"its format version {version} is newer than this program's {Version}";
        }

        long writtenAs = BinaryPrimitives.ReadInt64LittleEndian(header[16..]);
        if (BinaryPrimitives.ReadUInt32LittleEndian(header[28..]) != ChecksumOf(writtenAs, 0, header[..28]))
        {
            return "the checksum of the header does not match";
        }

        if (writtenAs != fileId)
        {
            return $"it is another file: it was written under number {writtenAs}, not {fileId}";
        }

        return null;
    }
}
