using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Format;

/// <summary>
/// The file format of a segment, version 2. (In version 1 some terms could not be found, see
/// <see cref="KeyTreeWriter"/>.) The file consists of pages, each followed by its checksum. The contents of all pages,
/// without checksums, form one sequence of bytes. An address is an offset in it. The parts are:
/// <code>
/// page *      16384 bytes (the last one may be shorter), u32 CRC-32C of file id, page number and bytes
/// header      magic "RKRYIDX\n", u32 version, u32 0, u64 file id
/// per field   postings, dictionary (a tree by term), column of sort ordinals, column of lengths
/// documents   a tree by id, ids and etags by entry
/// stored      values by entry, compressed
/// footer      see <see cref="SegmentFooter"/>, u32 its length
/// </code>
/// A unit (a block of a tree, of postings or of a column) is always within one page. The rest of the page is zeros. A
/// checksum covers every byte.
/// </summary>
public static class SegmentFormat
{
    /// <summary>Returns the exception for bytes that pass their checksum and cannot be decoded.</summary>
    public static InvalidDataException Malformed() =>
        new("Bytes of an index pass their checksum and cannot be decoded.");

    /// <summary>The version of the format.</summary>
    public const int Version = 2;

    /// <summary>Content bytes of a page, and the maximum length of a unit.</summary>
    public const int PageBytes = 1 << PageShift;

    /// <summary>The binary logarithm of <see cref="PageBytes"/>.</summary>
    public const int PageShift = 14;

    /// <summary>Bytes of a page on disk.</summary>
    public const int StoredPageBytes = PageBytes + sizeof(uint);

    /// <summary>Bytes of the header of a file.</summary>
    public const int HeaderBytes = 24;

    /// <summary>Maximum bytes of a term, sort key or id.</summary>
    public const int KeyLimitBytes = Values.TermKey.MaxBytes;

    /// <summary>Maximum entries of a segment, which limits merges. A batch has far fewer.</summary>
    public const int EntryLimit = 1 << 28;

    private static ReadOnlySpan<byte> Magic => "RKRYIDX\n"u8;

    /// <summary>Computes the checksum of a page.</summary>
    public static uint ChecksumOf(long fileId, long page, ReadOnlySpan<byte> bytes)
    {
        Span<byte> place = stackalloc byte[16];
        BinaryPrimitives.WriteInt64LittleEndian(place, fileId);
        BinaryPrimitives.WriteInt64LittleEndian(place[8..], page);
        return Checksum.Finish(Checksum.Append(Checksum.Append(Checksum.Start, place), bytes));
    }

    /// <summary>Fills a header.</summary>
    public static void WriteHeader(Span<byte> header, long fileId)
    {
        header[..HeaderBytes].Clear();
        Magic.CopyTo(header);
        BinaryPrimitives.WriteInt32LittleEndian(header[8..], Version);
        BinaryPrimitives.WriteInt64LittleEndian(header[16..], fileId);
    }

    /// <summary>Returns what is wrong with a header; null if it is valid.</summary>
    public static string? CheckHeader(ReadOnlySpan<byte> header, long fileId)
    {
        if (header.Length < HeaderBytes || !header.StartsWith(Magic))
        {
            return "it has no segment header";
        }

        int version = BinaryPrimitives.ReadInt32LittleEndian(header[8..]);
        if (version != Version)
        {
            return $"its format version is {version}, and this program reads {Version}";
        }

        return BinaryPrimitives.ReadInt64LittleEndian(header[16..]) == fileId
            ? null
            : "its header has another file number than its name";
    }
}
