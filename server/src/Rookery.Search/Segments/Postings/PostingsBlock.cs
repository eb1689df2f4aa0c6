using System.Runtime.CompilerServices;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Postings;

/// <summary>The current block of postings. Decodes entries when it opens, and frequencies on first access.</summary>
internal sealed class PostingsBlock(bool isText)
{
    private readonly uint[] _frequencies = isText ? new uint[PostingsFormat.BlockLength] : [];
    private readonly int[] _inlinePositions = isText ? new int[PostingsFormat.InlineLimit + 1] : [];
    private byte[] _page = [];
    private ReadOnlyMemory<byte> _inline;
    private int _frequenciesAt;
    private int _frequencyBits;
    private bool _hasFrequencies;

    /// <summary>Upper bound of what its postings contribute to a score.</summary>
    public Impact Impact { get; private set; }

    /// <summary>Offset of its positions within the positions of its group.</summary>
    public int PositionsOffset { get; private set; }

    /// <summary>Bytes of its positions.</summary>
    public int PositionsBytes { get; private set; }

    /// <summary>Decodes postings that are stored in the dictionary.</summary>
    public void OpenInline(ReadOnlyMemory<byte> encoded, int count, Span<uint> entries)
    {
        _inline = encoded;
        _hasFrequencies = true;
        var bytes = encoded.Span;
        int read = 0;
        int entry = -1;
        int maxFrequency = 1;
        for (int i = 0; i < count; i++)
        {
            int frequency = ReadPosting(bytes, ref read, ref entry);
            entries[i] = (uint)entry;
            if (isText)
            {
                _frequencies[i] = (uint)frequency - 1;
                maxFrequency = Math.Max(maxFrequency, frequency);
                _inlinePositions[i] = read;
                PostingPositions.Skip(bytes, ref read, frequency);
            }
        }

        // The lengths of entries are not known here. Every entry has at least one token.
        Impact = new Impact(maxFrequency, MinLength: 1);
        if (isText)
        {
            _inlinePositions[count] = read;
        }
    }

    /// <summary>Decodes the entries of a block.</summary>
    /// <returns>Number of entries.</returns>
    public int Open(BlockHeader header, Span<uint> entries)
    {
        _page = header.Page;
        Impact = header.Impact;
        PositionsOffset = header.PositionsOffset;
        PositionsBytes = header.PositionsBytes;
        var bytes = _page.AsSpan(header.BodyStart, header.BodyBytes);
        if (header.IsFull)
        {
            int bits = header.GapBits;
            BitPacking.Unpack(bytes, bits, entries);
            BitPacking.Accumulate(entries, header.LastBefore);
            _frequencyBits = header.FrequencyBits;
            _frequenciesAt = header.BodyStart + BitPacking.BytesOf(bits);
            _hasFrequencies = false;
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
                    _frequencies[i] = (uint)frequency - 1;
                }
            }

            _hasFrequencies = true;
        }

        return entries[header.Count - 1] == (uint)header.LastEntry ? header.Count : throw SegmentFormat.Malformed();
    }

    /// <summary>Returns the frequency of the term in the entry at an index.</summary>
    public int Frequency(int at)
    {
        if (!_hasFrequencies)
        {
            BitPacking.Unpack(_page.AsSpan(_frequenciesAt), _frequencyBits, _frequencies);
            _hasFrequencies = true;
        }

        return (int)_frequencies[at] + 1;
    }

    /// <summary>
    /// Returns the encoded positions of the entry at an index, for postings that are stored in the dictionary.
    /// </summary>
    public ReadOnlySpan<byte> InlinePositions(int at)
    {
        int start = _inlinePositions[at];
        int end = start;
        PostingPositions.Skip(_inline.Span, ref end, (int)_frequencies[at] + 1);
        return _inline.Span[start..end];
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int ReadPosting(ReadOnlySpan<byte> bytes, ref int read, ref int entry)
    {
        ulong head = Varint.Read(bytes, ref read);
        ulong gap = isText ? head >> 1 : head;
        int frequency = !isText || (head & 1) != 0 ? 1 : Varint.ReadInt(bytes, ref read);
        if (gap >= SegmentFormat.EntryLimit || frequency < 1)
        {
            throw SegmentFormat.Malformed();
        }

        entry += (int)gap + 1;
        return frequency;
    }
}
