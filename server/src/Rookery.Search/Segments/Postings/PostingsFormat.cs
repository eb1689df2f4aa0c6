namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Postings of a term: the entries in which it stands, ascending, and in a field of text how often and where. What
/// stands in the dictionary beside the term is
/// <code>
/// varint postings * 2 + 1, postings as below, each followed by its positions when they are few
/// varint postings * 2, varint address, [varint most often, varint shortest, varint positions] when they are up to 32
/// blocks varint postings * 2, varint 0, varint groups, varint address of the table when they are more
/// </code>
/// Postings lie in blocks of 128, up to 32 blocks in a group, and behind the group all its positions. A table says per
/// group u32 last entry, u64 address, u64 positions, u32 most often, u32 shortest. A block that holds 128 is
/// <code>
/// 0x80 | bits of a gap, varint last entry - last entry of the block before, [u8 bits of a frequency, varint most
/// often, varint shortest, varint bytes of positions], 128 gaps, [128 frequencies - 1]
/// </code>
/// and the last block, with fewer, 0x40, the same numbers, varint postings, varint bytes, then per posting varint gap,
/// of text varint gap * 2 + (1 when it stands there once), varint frequency otherwise. A zero instead of a block's
/// first byte, or the page's end, means that it is on the next page. "Most often" and "shortest" are the highest
/// frequency and the smallest length of an entry: no posting of the block can count for more than both together. A gap
/// is the distance to the entry before, less one; positions are varint distances. What is in brackets is there in
/// fields of text only.
/// </summary>
internal static class PostingsFormat
{
    /// <summary>Postings in a block.</summary>
    public const int BlockLength = BitPacking.BlockLength;

    /// <summary>Blocks in a group.</summary>
    public const int BlocksPerGroup = 32;

    /// <summary>
    /// A group is closed early when its positions are that many bytes: bounds what is held until they are written.
    /// </summary>
    public const int PositionsPerGroupBytes = 256 << 10;

    /// <summary>Up to so many postings stand in the dictionary itself,</summary>
    public const int InlineLimit = 16;

    /// <summary>if all their bytes are at most that many.</summary>
    public const int InlineLimitBytes = 96;

    public const int FullBlock = 0x80;
    public const int LastBlock = 0x40;
    public const int BitsMask = 0x3f;

    /// <summary>Bytes of one group in the table.</summary>
    public const int GroupBytes = 28;
}
