using System.Runtime.CompilerServices;

namespace Rookery.Indexing.Segments;

/// <summary>One block of postings that was reached: its entries are decoded, its frequencies when first asked for.</summary>
internal sealed class PostingsBlock(bool isText)
{
    private readonly uint[] frequencies = isText ? new uint[PostingsFormat.BlockLength] : [];
    private readonly int[] inlinePositions = isText ? new int[PostingsFormat.InlineLimit + 1] : [];
    private byte[] page = [];
    private ReadOnlyMemory<byte> inline;
    private int frequenciesAt;
    private int frequencyBits;
    private bool hasFrequencies;

    /// <summary>What no posting of it can count for more than.</summary>
    public Impact Impact { get; private set; }

    /// <summary>Where its positions begin within those of its group.</summary>
    public int PositionsOffset { get; private set; }

    /// <summary>Bytes of its positions.</summary>
    public int PositionsBytes { get; private set; }

    /// <summary>Decodes the postings that stand in the dictionary.</summary>
    public void OpenInline(ReadOnlyMemory<byte> encoded, int count, Span<uint> entries)
    {
        inline = encoded;
        hasFrequencies = true;
        var bytes = encoded.Span;
        int read = 0;
        int entry = -1;
        int mostOften = 1;
        for (int i = 0; i < count; i++)
        {
            int frequency = ReadPosting(bytes, ref read, ref entry);
            entries[i] = (uint)entry;
            if (isText)
            {
                frequencies[i] = (uint)frequency - 1;
                mostOften = Math.Max(mostOften, frequency);
                inlinePositions[i] = read;
                PostingPositions.Skip(bytes, ref read, frequency);
            }
        }

        // Lengths are not known here; no entry is shorter than one token.
        Impact = new Impact(mostOften, 1);
        if (isText)
        {
            inlinePositions[count] = read;
        }
    }

    /// <summary>Decodes the entries of a block.</summary>
    /// <returns>How many there are.</returns>
    public int Open(BlockHeader header, Span<uint> entries)
    {
        page = header.Page;
        Impact = header.Impact;
        PositionsOffset = header.PositionsOffset;
        PositionsBytes = header.PositionsBytes;
        var bytes = page.AsSpan(header.BodyStart, header.BodyBytes);
        if (header.IsFull)
        {
            int bits = header.GapBits;
            BitPacking.Unpack(bytes, bits, entries);
            BitPacking.Accumulate(entries, header.LastBefore);
            frequencyBits = header.FrequencyBits;
            frequenciesAt = header.BodyStart + BitPacking.BytesOf(bits);
            hasFrequencies = false;
        }
        else
        {
            int entry = header.LastBefore;
            int read = 0;
            for (int i = 0; i < header.Count; i++)
            {
                int frequency = ReadPosting(bytes, ref read, ref entry);
                entries[i] = (uint)entry;
                if (isText)
                {
                    frequencies[i] = (uint)frequency - 1;
                }
            }

            hasFrequencies = true;
        }

        return entries[header.Count - 1] == (uint)header.LastEntry ? header.Count : throw Varint.Malformed();
    }

    /// <summary>How often the term stands in the entry at this place.</summary>
    public int Frequency(int at)
    {
        if (!hasFrequencies)
        {
            BitPacking.Unpack(page.AsSpan(frequenciesAt), frequencyBits, frequencies);
            hasFrequencies = true;
        }

        return (int)frequencies[at] + 1;
    }

    /// <summary>The positions of the entry at this place, of postings that stand in the dictionary.</summary>
    public ReadOnlySpan<byte> InlinePositions(int at)
    {
        int start = inlinePositions[at];
        int end = start;
        PostingPositions.Skip(inline.Span, ref end, (int)frequencies[at] + 1);
        return inline.Span[start..end];
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int ReadPosting(ReadOnlySpan<byte> bytes, ref int read, ref int entry)
    {
        ulong head = Varint.Read(bytes, ref read);
        ulong gap = isText ? head >> 1 : head;
        int frequency = !isText || (head & 1) != 0 ? 1 : Varint.ReadInt(bytes, ref read);
        if (gap >= SegmentFormat.EntryLimit || frequency < 1)
        {
            throw Varint.Malformed();
        }

        entry += (int)gap + 1;
        return frequency;
    }
}
