using System.Buffers.Binary;
using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>Writes the postings of one term after the other, as <see cref="PostingsFormat"/> says.</summary>
/// <param name="output">Where to.</param>
internal sealed class PostingsWriter(SegmentOutput output)
{
    private readonly uint[] gaps = new uint[PostingsFormat.BlockLength];
    private readonly uint[] frequencies = new uint[PostingsFormat.BlockLength];
    private readonly ByteSink block = new(PostingsFormat.BlockLimitBytes);
    private readonly ByteSink positions = new();
    private readonly ByteSink table = new();
    private readonly ByteSink inline = new();
    private bool isText;
    private long count;
    private int inBlock;
    private int lastEntry;
    private int lastOfBlockBefore;
    private int positionsBefore;
    private int blocksInGroup;
    private long groupAddress;
    private Impact blockImpact;
    private Impact groupImpact;

    /// <summary>Postings of the term so far.</summary>
    public long Count => count;

    /// <summary>Begins a term.</summary>
    public void Begin(bool hasFrequencies)
    {
        isText = hasFrequencies;
        count = 0;
        inBlock = 0;
        lastEntry = -1;
        lastOfBlockBefore = -1;
        positionsBefore = 0;
        blocksInGroup = 0;
        blockImpact = Impact.None;
        groupImpact = Impact.None;
        positions.Clear();
        table.Clear();
        inline.Clear();
    }

    /// <summary>Adds a posting; entries ascend (<see cref="Invariant"/>).</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="frequency">How often the term stands there; 1 in fields without text.</param>
    /// <param name="length">The entry's length in tokens; 1 in fields without text.</param>
    /// <param name="encodedPositions">As many varint distances as the term stands there; none in fields without text.</param>
    public void Add(int entry, int frequency, int length, ReadOnlySpan<byte> encodedPositions)
    {
        Invariant.Holds(entry > lastEntry, "the entries of a term ascend");
        uint gap = (uint)(entry - lastEntry - 1);
        gaps[inBlock] = gap;
        frequencies[inBlock] = (uint)frequency - 1;
        if (count < PostingsFormat.InlineLimit && inline.Length <= PostingsFormat.InlineLimitBytes)
        {
            WritePosting(inline, gap, frequency);
            inline.Write(encodedPositions);
        }

        positions.Write(encodedPositions);
        blockImpact = blockImpact.With(frequency, length);
        lastEntry = entry;
        count++;
        if (++inBlock == PostingsFormat.BlockLength)
        {
            CloseBlock();
        }
    }

    /// <summary>Ends the term and appends what has to stand beside it in the dictionary.</summary>
    public void Finish(ByteSink payload)
    {
        if (count <= PostingsFormat.InlineLimit && inline.Length <= PostingsFormat.InlineLimitBytes)
        {
            payload.WriteVarint(((ulong)count << 1) | 1);
            payload.Write(inline.Span);
            return;
        }

        if (inBlock > 0)
        {
            CloseBlock();
        }

        payload.WriteVarint((ulong)count << 1);
        if (table.Length == 0 || (table.Length == PostingsFormat.GroupBytes && blocksInGroup == 0))
        {
            if (blocksInGroup > 0)
            {
                CloseGroup();
            }

            var only = table.Span;
            payload.WriteVarint(BinaryPrimitives.ReadUInt64LittleEndian(only[4..]));
            if (isText)
            {
                payload.WriteVarint(BinaryPrimitives.ReadUInt32LittleEndian(only[20..]));
                payload.WriteVarint(BinaryPrimitives.ReadUInt32LittleEndian(only[24..]));
                payload.WriteVarint(BinaryPrimitives.ReadUInt64LittleEndian(only[12..]));
            }

            return;
        }

        if (blocksInGroup > 0)
        {
            CloseGroup();
        }

        payload.WriteVarint(0);
        payload.WriteVarint((ulong)(table.Length / PostingsFormat.GroupBytes));
        payload.WriteVarint((ulong)output.Write(table.Span));
    }

    private void WritePosting(ByteSink sink, uint gap, int frequency)
    {
        if (!isText)
        {
            sink.WriteVarint(gap);
            return;
        }

        sink.WriteVarint(((ulong)gap << 1) | (frequency == 1 ? 1u : 0));
        if (frequency != 1)
        {
            sink.WriteVarint((ulong)frequency);
        }
    }

    private void CloseBlock()
    {
        block.Clear();
        if (inBlock == PostingsFormat.BlockLength)
        {
            int bits = BitPacking.BitsOf(gaps);
            int frequencyBits = BitPacking.BitsOf(frequencies);
            WriteBlockHeader(PostingsFormat.FullBlock | bits, frequencyBits);
            BitPacking.Pack(gaps, bits, block.Take(BitPacking.BytesOf(bits)));
            if (isText)
            {
                BitPacking.Pack(frequencies, frequencyBits, block.Take(BitPacking.BytesOf(frequencyBits)));
            }
        }
        else
        {
            WriteBlockHeader(PostingsFormat.LastBlock, 0);
            block.WriteVarint((ulong)inBlock);
            inline.Clear();
            for (int i = 0; i < inBlock; i++)
            {
                WritePosting(inline, gaps[i], (int)frequencies[i] + 1);
            }

            block.WriteVarint((ulong)inline.Length);
            block.Write(inline.Span);
        }

        long address = output.WriteUnit(block.Span);
        groupAddress = blocksInGroup == 0 ? address : groupAddress;
        groupImpact = groupImpact.With(blockImpact);
        blockImpact = Impact.None;
        positionsBefore = positions.Length;
        lastOfBlockBefore = lastEntry;
        inBlock = 0;
        if (++blocksInGroup == PostingsFormat.BlocksPerGroup || positions.Length >= PostingsFormat.PositionsPerGroupBytes)
        {
            CloseGroup();
        }
    }

    private void WriteBlockHeader(int first, int frequencyBits)
    {
        block.WriteByte((byte)first);
        block.WriteVarint((ulong)((long)lastEntry - lastOfBlockBefore));
        if (isText)
        {
            block.WriteByte((byte)frequencyBits);
            block.WriteVarint((ulong)blockImpact.MostOften);
            block.WriteVarint((ulong)blockImpact.Shortest);
            block.WriteVarint((ulong)(positions.Length - positionsBefore));
        }
    }

    private void CloseGroup()
    {
        long positionsAddress = output.Write(positions.Span);
        var group = table.Take(PostingsFormat.GroupBytes);
        BinaryPrimitives.WriteInt32LittleEndian(group, lastEntry);
        BinaryPrimitives.WriteInt64LittleEndian(group[4..], groupAddress);
        BinaryPrimitives.WriteInt64LittleEndian(group[12..], positionsAddress);
        BinaryPrimitives.WriteInt32LittleEndian(group[20..], groupImpact.MostOften);
        BinaryPrimitives.WriteInt32LittleEndian(group[24..], groupImpact.Shortest);
        positions.Clear();
        positionsBefore = 0;
        blocksInGroup = 0;
        groupImpact = Impact.None;
    }
}
