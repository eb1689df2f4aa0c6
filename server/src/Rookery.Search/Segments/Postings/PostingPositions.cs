using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Postings;

/// <summary>Reads the positions of one block, on first access. Not thread-safe.</summary>
internal sealed class PostingPositions(SegmentPages pages)
{
    private byte[] _scratch = [];
    private byte[] _bytes = [];
    private int _length = -1;

    // The positions of posting _place of the block begin at _next.
    private int _place;
    private int _next;

    /// <summary>Discards the positions, because the cursor moved to another block.</summary>
    public void Discard() => _length = -1;

    /// <summary>Skips the positions of one posting.</summary>
    public static void Skip(ReadOnlySpan<byte> encoded, ref int at, int count)
    {
        while (count > 0)
        {
            if ((uint)at >= (uint)encoded.Length)
            {
                throw SegmentFormat.Malformed();
            }

            count -= encoded[at++] < 0x80 ? 1 : 0;
        }
    }

    /// <summary>Decodes the positions of one posting.</summary>
    public static int Read(ReadOnlySpan<byte> encoded, int count, ref int[] target)
    {
        if (target.Length < count)
        {
            // Each position has at least one byte, so the bytes bound the allocation even if the count is wrong.
            target =
                count <= encoded.Length ? new int[Math.Max(count, 2 * target.Length)] : throw SegmentFormat.Malformed();
        }

        int read = 0;
        int position = 0;
        for (int i = 0; i < count; i++)
        {
            position += Varint.ReadInt(encoded, ref read);
            target[i] = position;
        }

        return count;
    }

    /// <summary>Returns the encoded positions of the posting at an index of a block.</summary>
    public ReadOnlySpan<byte> Of(PostingsBlock block, long groupAddress, int at)
    {
        if (_length < 0)
        {
            var read = pages.Read(groupAddress + block.PositionsOffset, block.PositionsBytes, ref _scratch);
            _length = read.Length;
            if (_bytes.Length < _length)
            {
                _bytes = new byte[Math.Max(_length, 2 * _bytes.Length)];
            }

            read.CopyTo(_bytes);
            _place = 0;
            _next = 0;
        }

        if (at < _place)
        {
            _place = 0;
            _next = 0;
        }

        var all = _bytes.AsSpan(0, _length);
        for (; _place < at; _place++)
        {
            Skip(all, ref _next, block.Frequency(_place));
        }

        int end = _next;
        Skip(all, ref end, block.Frequency(at));
        return all[_next..end];
    }
}
