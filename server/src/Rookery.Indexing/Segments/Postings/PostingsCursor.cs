namespace Rookery.Indexing.Segments;

/// <summary>
/// The postings of one term. To be used for one term after the other (<see cref="Open"/>). Decodes a block when it is reached and jumps over those between; frequencies and positions
/// are decoded only when asked for.
/// </summary>
internal sealed class PostingsCursor(SegmentPages pages, bool isText) : EntryCursor
{
    private readonly PostingsBlock block = new(isText);

    // Most terms stand in few entries, whose postings are in the dictionary: only others need all of it.
    private uint[] entries = [];
    private PostingsGroups? groups;
    private PostingPositions? positions;
    private PackedColumn? column;
    private ulong ordinal;
    private int at;
    private int blockCount;
    private bool isInline;

    /// <summary>Postings of the term, dead entries included.</summary>
    public long Count { get; private set; }

    /// <summary>Postings that were decoded since the cursor was made.</summary>
    public long Decoded { get; private set; }

    /// <inheritdoc/>
    public override long Cost => Count;

    /// <summary>How often the term stands in <see cref="EntryCursor.Current"/>.</summary>
    public int Frequency => isText ? block.Frequency(at) : 1;

    /// <summary>What no posting of this term can count for more than.</summary>
    public Impact Impact => isInline ? block.Impact : groups!.WholeImpact;

    /// <inheritdoc/>
    public override bool CanTell => column is not null;

    /// <summary>Says that a column tells which entries have the term, until another is opened.</summary>
    /// <param name="ordinals">By entry, one more than the ordinal of the only term that it has.</param>
    /// <param name="term">The ordinal of the term.</param>
    public void TellBy(PackedColumn ordinals, long term) => (column, ordinal) = (ordinals, (ulong)term + 1);

    /// <inheritdoc/>
    public override bool Has(int entry) => column is null ? base.Has(entry) : column[entry] == ordinal;

    /// <summary>Goes before the first posting of a term.</summary>
    /// <param name="payload">What stands beside the term in the dictionary; held until the next call.</param>
    public void Open(ReadOnlyMemory<byte> payload)
    {
        var bytes = payload.Span;
        int read = 0;
        ulong head = Varint.Read(bytes, ref read);
        Count = head <= (ulong)SegmentFormat.EntryLimit * 2 + 1 ? (long)(head >> 1) : throw Varint.Malformed();
        isInline = (head & 1) != 0;
        Current = -1;
        at = -1;
        blockCount = 0;
        column = null;
        positions?.Forget();
        int most = isInline ? PostingsFormat.InlineLimit : PostingsFormat.BlockLength;
        if (entries.Length < most)
        {
            entries = new uint[most];
        }

        if (isInline)
        {
            if (Count > PostingsFormat.InlineLimit)
            {
                throw Varint.Malformed();
            }

            block.OpenInline(payload[read..], (int)Count, entries);
            blockCount = (int)Count;
            Decoded += blockCount;
        }
        else
        {
            (groups ??= new PostingsGroups(pages, isText)).Open(bytes, read, Count);
        }
    }

    /// <inheritdoc/>
    public override int MoveNext()
    {
        if (++at < blockCount)
        {
            return Current = (int)entries[at];
        }

        return Current == End || !NextBlock() ? Finish() : Current = (int)entries[at = 0];
    }

    /// <inheritdoc/>
    public override int Advance(int target)
    {
        if (target <= Current)
        {
            return Current;
        }

        if (blockCount == 0 || (uint)target > entries[blockCount - 1])
        {
            if (isInline || !BlockFor(target))
            {
                return Finish();
            }

            at = 0;
        }

        at = FirstNotBelow(entries.AsSpan(0, blockCount), (uint)target, Math.Max(at, 0));
        return Current = (int)entries[at];
    }

    /// <summary>
    /// What no posting up to an entry can count for more than, beginning with the block in which <paramref name="target"/> would stand. Does not move the cursor and decodes nothing.
    /// </summary>
    /// <param name="target">At or behind <see cref="EntryCursor.Current"/>.</param>
    /// <param name="lastEntry">The last entry that it holds for; <see cref="EntryCursor.End"/> when no posting is at or behind the target.</param>
    public Impact ImpactAt(int target, out int lastEntry)
    {
        if (blockCount > 0 && (uint)target <= entries[blockCount - 1])
        {
            lastEntry = (int)entries[blockCount - 1];
            return block.Impact;
        }

        if (isInline)
        {
            lastEntry = End;
            return new Impact(0, 1);
        }

        return groups!.ImpactAt(target, out lastEntry);
    }

    /// <summary>Reads the positions at <see cref="EntryCursor.Current"/>, ascending, <see cref="Frequency"/> of them.</summary>
    /// <returns>How many there are; the first so many of <paramref name="target"/>, which grows when it is too short.</returns>
    public int ReadPositions(ref int[] target) => PostingPositions.Read(EncodedPositions(), Frequency, ref target);

    /// <summary>The same, as they are encoded: for a merge, which only moves them.</summary>
    public ReadOnlySpan<byte> EncodedPositions()
    {
        if (!isText)
        {
            return default;
        }

        return isInline ? block.InlinePositions(at) : Positions().Of(block, groups!.Current.PositionsAddress, at);
    }

    /// <inheritdoc/>
    public override int CountRest()
    {
        if (Current == -1)
        {
            Finish();
            return (int)Count;
        }

        return base.CountRest();
    }

    private static int FirstNotBelow(ReadOnlySpan<uint> sorted, uint target, int from)
    {
        // Most advances are short: a few steps before halving.
        int near = Math.Min(sorted.Length, from + 8);
        for (; from < near; from++)
        {
            if (sorted[from] >= target)
            {
                return from;
            }
        }

        int to = sorted.Length - 1;
        while (from < to)
        {
            int middle = (from + to) >>> 1;
            if (sorted[middle] < target)
            {
                from = middle + 1;
            }
            else
            {
                to = middle;
            }
        }

        return from;
    }

    private PostingPositions Positions() => positions ??= new PostingPositions(pages);

    private int Finish()
    {
        blockCount = 0;
        at = 0;
        return Current = End;
    }

    private bool NextBlock() => !isInline && groups!.MoveNext() && Load();

    private bool BlockFor(int target) => groups!.MoveTo(target) && Load();

    private bool Load()
    {
        positions?.Forget();
        blockCount = block.Open(groups!.Current, entries);
        Decoded += blockCount;
        return true;
    }
}
