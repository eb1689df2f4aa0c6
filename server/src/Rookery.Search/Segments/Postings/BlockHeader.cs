using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// The header of a block of postings, and the position of the next header. A copy of the struct can read ahead without
/// moving the original.
/// </summary>
internal struct BlockHeader
{
    private byte[] _page;
    private long _nextAddress;

    /// <summary>The page of the block.</summary>
    public readonly byte[] Page => _page;

    /// <summary>Offset of its postings in the page.</summary>
    public int BodyStart { get; private set; }

    /// <summary>Bytes of its postings.</summary>
    public int BodyBytes { get; private set; }

    /// <summary>Whether it has 128 packed postings.</summary>
    public bool IsFull { get; private set; }

    /// <summary>Bits of a gap, in a full block.</summary>
    public int GapBits { get; private set; }

    /// <summary>Bits of a frequency, in a full block.</summary>
    public int FrequencyBits { get; private set; }

    /// <summary>Number of its postings.</summary>
    public int Count { get; private set; }

    /// <summary>The last entry before the block; -1 for none.</summary>
    public int LastBefore { get; private set; }

    /// <summary>The block's last entry.</summary>
    public int LastEntry { get; private set; }

    /// <summary>Upper bound of what its postings contribute to a score.</summary>
    public Impact Impact { get; private set; }

    /// <summary>The address of the positions of its group.</summary>
    public long PositionsAddress { get; private set; }

    /// <summary>Offset of the block's positions within the positions of its group.</summary>
    public int PositionsOffset { get; private set; }

    /// <summary>Bytes of the block's positions.</summary>
    public int PositionsBytes { get; private set; }

    /// <summary>The number of its group.</summary>
    public int Group { get; private set; }

    /// <summary>Number of postings of its group, up to the end of this block.</summary>
    public long CountInGroup { get; private set; }

    /// <summary>Moves before the first block of a group.</summary>
    public void OpenGroup(int group, long address, long positionsAddress, int lastBefore)
    {
        Group = group;
        _nextAddress = address;
        PositionsAddress = positionsAddress;
        PositionsOffset = 0;
        PositionsBytes = 0;
        LastEntry = lastBefore;
        CountInGroup = 0;
    }

    /// <summary>Reads the next header of the group.</summary>
    public void MoveNext(SegmentPages pages, bool isText)
    {
        _page = pages.PageOf(_nextAddress, out int at);
        if (at >= _page.Length || _page[at] == 0)
        {
            _nextAddress = ((_nextAddress >> SegmentFormat.PageShift) + 1) << SegmentFormat.PageShift;
            _page = pages.PageOf(_nextAddress, out at);
        }

        int first = _page[at++];
        IsFull = (first & PostingsFormat.FullBlock) != 0;
        GapBits = first & PostingsFormat.BitsMask;
        LastBefore = LastEntry;
        ulong distance = Varint.Read(_page, ref at);
        PositionsOffset += PositionsBytes;
        FrequencyBits = 0;
        Impact = new Impact(MaxFrequency: 1, MinLength: 1);
        PositionsBytes = 0;
        if (isText)
        {
            FrequencyBits = at < _page.Length ? _page[at++] : 0;
            Impact = new Impact(Varint.ReadInt(_page, ref at), Varint.ReadInt(_page, ref at));
            PositionsBytes = Varint.ReadInt(_page, ref at);
        }

        Count = IsFull ? PostingsFormat.BlockLength : Varint.ReadInt(_page, ref at);
        BodyBytes = IsFull
            ? BitPacking.BytesOf(GapBits) + BitPacking.BytesOf(FrequencyBits)
            : Varint.ReadInt(_page, ref at);
        BodyStart = at;
        bool isValid =
            (IsFull || first == PostingsFormat.LastBlock)
            && GapBits <= 32
            && FrequencyBits <= 32
            && Count is > 0 and <= PostingsFormat.BlockLength
            && BodyBytes <= _page.Length - at
            && distance > 0
            && distance <= (ulong)(SegmentFormat.EntryLimit - LastBefore)
            && PositionsOffset >= 0;
        if (!isValid)
        {
            throw SegmentFormat.Malformed();
        }

        LastEntry = LastBefore + (int)distance;
        CountInGroup += Count;
        _nextAddress = ((_nextAddress >> SegmentFormat.PageShift) << SegmentFormat.PageShift) + at + BodyBytes;
    }
}
