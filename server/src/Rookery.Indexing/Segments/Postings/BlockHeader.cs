namespace Rookery.Indexing.Segments;

/// <summary>What stands before the postings of a block, and so where the next one begins. A value: a copy can look ahead.</summary>
internal struct BlockHeader
{
    private byte[] page;
    private long nextAddress;

    /// <summary>The page of the block.</summary>
    public readonly byte[] Page => page;

    /// <summary>Where its postings begin in the page.</summary>
    public int BodyStart { get; private set; }

    /// <summary>Bytes of its postings.</summary>
    public int BodyBytes { get; private set; }

    /// <summary>Whether it holds 128 packed postings.</summary>
    public bool IsFull { get; private set; }

    /// <summary>Bits of a gap, of a full block.</summary>
    public int GapBits { get; private set; }

    /// <summary>Bits of a frequency, of a full block.</summary>
    public int FrequencyBits { get; private set; }

    /// <summary>Its postings.</summary>
    public int Count { get; private set; }

    /// <summary>The last entry before it; -1 when there is none.</summary>
    public int LastBefore { get; private set; }

    /// <summary>Its last entry.</summary>
    public int LastEntry { get; private set; }

    /// <summary>What none of its postings can count for more than.</summary>
    public Impact Impact { get; private set; }

    /// <summary>The address of the positions of its group.</summary>
    public long PositionsAddress { get; private set; }

    /// <summary>Where its own begin among them.</summary>
    public int PositionsOffset { get; private set; }

    /// <summary>How many bytes its own are.</summary>
    public int PositionsBytes { get; private set; }

    /// <summary>The number of its group.</summary>
    public int Group { get; private set; }

    /// <summary>Postings of its group up to its end.</summary>
    public long CountInGroup { get; private set; }

    /// <summary>Goes before the first block of a group.</summary>
    public void OpenGroup(int group, long address, long positionsAddress, int lastBefore)
    {
        Group = group;
        nextAddress = address;
        PositionsAddress = positionsAddress;
        PositionsOffset = 0;
        PositionsBytes = 0;
        LastEntry = lastBefore;
        CountInGroup = 0;
    }

    /// <summary>Reads the next header of the group.</summary>
    public void MoveNext(SegmentPages pages, bool isText)
    {
        page = pages.PageOf(nextAddress, out int at);
        if (at >= page.Length || page[at] == 0)
        {
            nextAddress = ((nextAddress >> SegmentFormat.PageShift) + 1) << SegmentFormat.PageShift;
            page = pages.PageOf(nextAddress, out at);
        }

        int first = page[at++];
        IsFull = (first & PostingsFormat.FullBlock) != 0;
        GapBits = first & PostingsFormat.BitsMask;
        LastBefore = LastEntry;
        ulong distance = Varint.Read(page, ref at);
        PositionsOffset += PositionsBytes;
        FrequencyBits = 0;
        Impact = new Impact(1, 1);
        PositionsBytes = 0;
        if (isText)
        {
            FrequencyBits = at < page.Length ? page[at++] : 0;
            Impact = new Impact(Varint.ReadInt(page, ref at), Varint.ReadInt(page, ref at));
            PositionsBytes = Varint.ReadInt(page, ref at);
        }

        Count = IsFull ? PostingsFormat.BlockLength : Varint.ReadInt(page, ref at);
        BodyBytes = IsFull ? BitPacking.BytesOf(GapBits) + BitPacking.BytesOf(FrequencyBits) : Varint.ReadInt(page, ref at);
        BodyStart = at;
        bool isSane = (IsFull || first == PostingsFormat.LastBlock) && GapBits <= 32 && FrequencyBits <= 32 && Count is > 0 and <= PostingsFormat.BlockLength
            && BodyBytes <= page.Length - at && distance > 0 && distance <= (ulong)(SegmentFormat.EntryLimit - LastBefore) && PositionsOffset >= 0;
        if (!isSane)
        {
            throw Varint.Malformed();
        }

        LastEntry = LastBefore + (int)distance;
        CountInGroup += Count;
        nextAddress = ((nextAddress >> SegmentFormat.PageShift) << SegmentFormat.PageShift) + at + BodyBytes;
    }
}
