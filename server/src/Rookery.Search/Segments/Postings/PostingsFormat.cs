namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Format of the postings of a term: the entries that contain the term, ascending; in text fields also its frequency
/// and positions in each entry. Parts in brackets exist only in text fields. A position is a varint, the distance from
/// the previous position. A gap is the distance from the previous entry, minus 1. "Highest" and "smallest" are the
/// highest frequency and the smallest length of an entry (<see cref="Impact"/>). The payload of a term in the
/// dictionary is one of
/// <code>
/// few postings      varint postings * 2 + 1, the postings as in the last block, each followed by its positions
/// up to 32 blocks   varint postings * 2, varint address, [varint highest, varint smallest, varint positions address]
/// more blocks       varint postings * 2, varint 0, varint groups, varint address of the table
/// </code>
/// Postings are in blocks of 128. A group is up to 32 blocks, followed by the positions of all of them. The table has
/// an entry for each group: u32 last entry, u64 address, u64 positions address, u32 highest, u32 smallest. A full block
/// and the last block, with fewer postings, are
/// <code>
/// full block   0x80 | bits of a gap, varint last entry - last entry of the previous block, [u8 bits of a frequency,
///              varint highest, varint smallest, varint bytes of positions], 128 gaps, [128 frequencies - 1]
/// last block   0x40, the same numbers, varint postings, varint bytes, then each posting
/// posting      varint gap; in text fields varint gap * 2 + (1 if the frequency is 1), then varint frequency unless 1
/// </code>
/// A zero instead of a block's first byte, or the end of the page, means that the block begins on the next page.
/// </summary>
internal static class PostingsFormat
{
    /// <summary>Number of postings in a full block.</summary>
    public const int BlockLength = BitPacking.BlockLength;

    /// <summary>Maximum blocks in a group.</summary>
    public const int BlocksPerGroup = 32;

    /// <summary>
    /// A group is closed early when its positions reach this many bytes, which limits the memory until they are
    /// written.
    /// </summary>
    public const int PositionsPerGroupBytes = 256 << 10;

    /// <summary>Maximum postings of a term that are stored in the dictionary itself.</summary>
    public const int InlineLimit = 16;

    /// <summary>Maximum bytes of postings that are stored in the dictionary itself.</summary>
    public const int InlineLimitBytes = 96;

    /// <summary>Flag in the first byte of a full block; the other bits are those of <see cref="BitsMask"/>.</summary>
    public const int FullBlock = 0x80;

    /// <summary>First byte of a last block.</summary>
    public const int LastBlock = 0x40;

    /// <summary>The part of a full block's first byte with the bits of a gap.</summary>
    public const int BitsMask = 0x3f;

    /// <summary>Bytes of a group's table entry.</summary>
    public const int GroupBytes = 28;
}
