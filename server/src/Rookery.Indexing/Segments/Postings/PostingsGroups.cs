using System.Buffers.Binary;

namespace Rookery.Indexing.Segments;

/// <summary>The blocks of one term's postings: the place of the one that is read, and of one ahead that was only looked at.</summary>
internal sealed class PostingsGroups(SegmentPages pages, bool isText)
{
    /// <summary>Of the table: last entry, address, positions, most often, shortest.</summary>
    private const int AddressAt = 4;
    private const int PositionsAt = 12;
    private const int MostOftenAt = 20;
    private const int ShortestAt = 24;

    private BlockHeader current;
    private BlockHeader ahead;
    private byte[] table = [];
    private byte[] scratch = [];
    private int groupCount;
    private long count;
    private long onlyAddress;
    private long onlyPositions;
    private bool hasCurrent;
    private bool hasAhead;
    private bool hasEnded;

    /// <summary>The block that is read.</summary>
    public ref readonly BlockHeader Current => ref current;

    /// <summary>What no posting of the term can count for more than.</summary>
    public Impact WholeImpact { get; private set; }

    /// <summary>Goes before the first block.</summary>
    /// <param name="payload">What stands beside the term.</param>
    /// <param name="at">Where it says where the blocks are.</param>
    /// <param name="postings">How many there are.</param>
    public void Open(ReadOnlySpan<byte> payload, int at, long postings)
    {
        count = postings;
        hasCurrent = false;
        hasAhead = false;
        hasEnded = false;
        onlyAddress = (long)Varint.Read(payload, ref at);
        if (onlyAddress != 0)
        {
            groupCount = 1;
            WholeImpact = isText ? new Impact(Varint.ReadInt(payload, ref at), Varint.ReadInt(payload, ref at)) : new Impact(1, 1);
            onlyPositions = isText ? (long)Varint.Read(payload, ref at) : 0;
            return;
        }

        groupCount = Varint.ReadInt(payload, ref at);
        if (groupCount < 2 || groupCount > count)
        {
            throw Varint.Malformed();
        }

        int bytes = checked(groupCount * PostingsFormat.GroupBytes);
        var read = pages.Read((long)Varint.Read(payload, ref at), bytes, ref scratch);
        if (table.Length < bytes)
        {
            table = new byte[Math.Max(bytes, 2 * table.Length)];
        }

        read.CopyTo(table);
        var whole = Impact.None;
        for (int i = 0; i < groupCount; i++)
        {
            whole = whole.With(ImpactOf(i));
        }

        WholeImpact = whole;
    }

    /// <summary>Goes to the next block.</summary>
    public bool MoveNext()
    {
        if (hasEnded || !MoveNext(ref current, hasCurrent))
        {
            hasEnded = true;
            return false;
        }

        hasCurrent = true;
        return true;
    }

    /// <summary>Goes to the first block whose last entry is not below <paramref name="target"/>, which is behind the current block.</summary>
    public bool MoveTo(int target)
    {
        if (hasEnded)
        {
            return false;
        }

        if (hasAhead && (!hasCurrent || ahead.LastEntry > current.LastEntry) && ahead.LastBefore < target)
        {
            current = ahead;
            hasCurrent = true;
        }

        if (!MoveTo(ref current, hasCurrent, target))
        {
            hasEnded = true;
            return false;
        }

        hasCurrent = true;
        return true;
    }

    /// <summary>What no posting can count for more than in the block where <paramref name="target"/> would stand, which is behind the current one; and the last entry of that block.</summary>
    public Impact ImpactAt(int target, out int lastEntry)
    {
        if (!hasEnded)
        {
            if (!hasAhead || ahead.LastBefore >= target || (hasCurrent && ahead.LastEntry < current.LastEntry))
            {
                ahead = current;
                hasAhead = hasCurrent;
            }

            if (MoveTo(ref ahead, hasAhead, target))
            {
                hasAhead = true;
                lastEntry = ahead.LastEntry;
                return ahead.Impact;
            }

            hasAhead = false;
        }

        lastEntry = EntryCursor.End;
        return new Impact(0, 1);
    }

    private bool MoveNext(ref BlockHeader header, bool isOpen)
    {
        if (!isOpen)
        {
            OpenGroup(ref header, 0);
        }
        else if (groupCount == 1 ? header.CountInGroup >= count : header.LastEntry >= LastOf(header.Group))
        {
            if (header.Group + 1 >= groupCount)
            {
                return false;
            }

            OpenGroup(ref header, header.Group + 1);
        }

        header.MoveNext(pages, isText);
        return true;
    }

    private bool MoveTo(ref BlockHeader header, bool isOpen, int target)
    {
        int group = isOpen ? header.Group : 0;
        if (groupCount > 1 && LastOf(group) < target)
        {
            int to = groupCount;
            while (group < to)
            {
                int middle = (group + to) >>> 1;
                if (LastOf(middle) < target)
                {
                    group = middle + 1;
                }
                else
                {
                    to = middle;
                }
            }

            if (group == groupCount)
            {
                return false;
            }

            OpenGroup(ref header, group);
            header.MoveNext(pages, isText);
            isOpen = true;
        }

        while (!isOpen || header.LastEntry < target)
        {
            if (!MoveNext(ref header, isOpen))
            {
                return false;
            }

            isOpen = true;
        }

        return true;
    }

    private void OpenGroup(ref BlockHeader header, int group)
    {
        if (groupCount == 1)
        {
            header.OpenGroup(0, onlyAddress, onlyPositions, -1);
        }
        else
        {
            var entry = table.AsSpan(group * PostingsFormat.GroupBytes);
            header.OpenGroup(
                group,
                BinaryPrimitives.ReadInt64LittleEndian(entry[AddressAt..]),
                BinaryPrimitives.ReadInt64LittleEndian(entry[PositionsAt..]),
                group == 0 ? -1 : LastOf(group - 1));
        }
    }

    private int LastOf(int group) => BinaryPrimitives.ReadInt32LittleEndian(table.AsSpan(group * PostingsFormat.GroupBytes));

    private Impact ImpactOf(int group)
    {
        var entry = table.AsSpan(group * PostingsFormat.GroupBytes);
        return new Impact(BinaryPrimitives.ReadInt32LittleEndian(entry[MostOftenAt..]), BinaryPrimitives.ReadInt32LittleEndian(entry[ShortestAt..]));
    }
}
