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
    public const int Bytes = 8 + (11 * sizeof(long)) + (5 * sizeof(uint));

    private const int ChecksumOffset = Bytes - sizeof(uint);

    private static ReadOnlySpan<byte> Magic => "RKRYEND\n"u8;

    public long FilterOffset => IndexOffset + IndexBytes;

    public long PropertiesOffset => FilterOffset + FilterBytes;

    public long FooterOffset => PropertiesOffset + PropertiesBytes;

    public void Write(Span<byte> target, long fileId)
    {
        Magic.CopyTo(target);
        int at = Magic.Length;
        foreach (
            long field in (ReadOnlySpan<long>)
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
                ]
        )
        {
            BinaryPrimitives.WriteInt64LittleEndian(target[at..], field);
            at += sizeof(long);
        }

        foreach (uint field in (ReadOnlySpan<uint>)[Blocks, IndexChecksum, FilterChecksum, PropertiesChecksum])
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
        long Long(ReadOnlySpan<byte> from, int number) =>
            BinaryPrimitives.ReadInt64LittleEndian(from[(8 + (number * sizeof(long)))..]);
        uint Number(ReadOnlySpan<byte> from, int number) =>
            BinaryPrimitives.ReadUInt32LittleEndian(from[(8 + (11 * sizeof(long)) + (number * sizeof(uint)))..]);
        return new RunFooter(
            Long(source, 0),
            Long(source, 1),
            Long(source, 2),
            Long(source, 3),
            Long(source, 4),
            Long(source, 5),
            Long(source, 6),
            Long(source, 7),
            Long(source, 8),
            Long(source, 9),
            Long(source, 10),
            Number(source, 0),
            Number(source, 1),
            Number(source, 2),
            Number(source, 3)
        );
    }
}
