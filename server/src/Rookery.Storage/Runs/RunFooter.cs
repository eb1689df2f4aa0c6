using System.Buffers.Binary;

namespace Rookery.Storage.Runs;

/// <summary>
/// The last bytes of a run: the offsets of its parts, its counts and its checksums. Layout: the magic, the fields in
/// the order of the parameters (8 bytes for each long, 4 for each uint), then the footer's own checksum. Index, filter,
/// properties and footer are adjacent.
/// </summary>
internal readonly record struct RunFooter(
    long FileBytes,
    long IndexOffset,
    long IndexBytes,
    long FilterBytes,
    long PropertiesBytes,
    long Rows,
    long Tombstones,
    long RangeTombstones,
    long LogicalBytes,
    long SmallestSequence,
    long LargestSequence,
    uint Blocks,
    uint IndexChecksum,
    uint FilterChecksum,
    uint PropertiesChecksum
)
{
    public const int Bytes = UintsOffset + (5 * sizeof(uint));

    private const int LongsOffset = 8; // after the magic
    private const int UintsOffset = LongsOffset + (11 * sizeof(long));

    private const int ChecksumOffset = Bytes - sizeof(uint);

    private static ReadOnlySpan<byte> Magic => "RKRYEND\n"u8;

    public long FilterOffset => IndexOffset + IndexBytes;

    public long PropertiesOffset => FilterOffset + FilterBytes;

    public long FooterOffset => PropertiesOffset + PropertiesBytes;

    public void Write(Span<byte> target, long fileId)
    {
        Magic.CopyTo(target);
        int at = Magic.Length;
        ReadOnlySpan<long> longs =
        [
            FileBytes,
            IndexOffset,
            IndexBytes,
            FilterBytes,
            PropertiesBytes,
            Rows,
            Tombstones,
            RangeTombstones,
            LogicalBytes,
            SmallestSequence,
            LargestSequence,
        ];
        foreach (long field in longs)
        {
            BinaryPrimitives.WriteInt64LittleEndian(target[at..], field);
            at += sizeof(long);
        }

        ReadOnlySpan<uint> uints = [Blocks, IndexChecksum, FilterChecksum, PropertiesChecksum];
        foreach (uint field in uints)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(target[at..], field);
            at += sizeof(uint);
        }

        BinaryPrimitives.WriteUInt32LittleEndian(
            target[at..],
            RunFormat.ChecksumOf(fileId, FooterOffset, target[..at])
        );
    }

    /// <summary>
    /// Decodes the last <see cref="Bytes"/> bytes of a file of <paramref name="fileBytes"/> bytes. If it returns false,
    /// <paramref name="problem"/> is the reason.
    /// </summary>
    public static bool TryRead(
        ReadOnlySpan<byte> source,
        long fileId,
        long fileBytes,
        out RunFooter footer,
        out string? problem
    )
    {
        footer = default;
        problem = null;
        if (source.Length < Bytes || !source.StartsWith(Magic))
        {
            problem = "it does not end like a run";
        }
        else if (
            BinaryPrimitives.ReadUInt32LittleEndian(source[ChecksumOffset..])
            != RunFormat.ChecksumOf(fileId, fileBytes - Bytes, source[..ChecksumOffset])
        )
        {
            problem = "the checksum of the footer does not match";
        }
        else
        {
            footer = Parse(source);
            problem = footer.FileBytes == fileBytes && footer.IsPlausible ? null : "the footer does not fit the file";
        }

        return problem is null;
    }

    private bool IsPlausible =>
        IndexOffset >= RunFormat.HeaderBytes
        && IndexBytes >= 0
        && FilterBytes >= 0
        && FilterBytes % BloomFilter.LineBytes == 0
        && PropertiesBytes >= 0
        && IndexBytes <= FileBytes
        && FilterBytes <= FileBytes
        && PropertiesBytes <= FileBytes
        && FooterOffset + Bytes == FileBytes;

    private static RunFooter Parse(ReadOnlySpan<byte> source)
    {
        long LongAt(ReadOnlySpan<byte> from, int number) =>
            BinaryPrimitives.ReadInt64LittleEndian(from[(LongsOffset + (number * sizeof(long)))..]);
        uint UintAt(ReadOnlySpan<byte> from, int number) =>
            BinaryPrimitives.ReadUInt32LittleEndian(from[(UintsOffset + (number * sizeof(uint)))..]);
        return new RunFooter(
            LongAt(source, 0),
            LongAt(source, 1),
            LongAt(source, 2),
            LongAt(source, 3),
            LongAt(source, 4),
            LongAt(source, 5),
            LongAt(source, 6),
            LongAt(source, 7),
            LongAt(source, 8),
            LongAt(source, 9),
            LongAt(source, 10),
            UintAt(source, 0),
            UintAt(source, 1),
            UintAt(source, 2),
            UintAt(source, 3)
        );
    }
}
