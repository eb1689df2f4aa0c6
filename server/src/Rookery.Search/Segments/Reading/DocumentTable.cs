using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// Reads ids and etags by entry. Fastest for ascending entries, because reading in a block continues after the last
/// entry. Not thread-safe.
/// </summary>
public sealed class DocumentTable(SegmentPages pages, PackedColumn addresses, PackedColumn lengths, int entries)
{
    private const int FirstIdBytes = 64;

    private byte[] _id = [];
    private byte[] _scratch = [];
    private int _idLength;
    private int _block = -1;
    private int _nextDocument;
    private int _offset;
    private long _lastEtag;

    /// <summary>Returns the lower-case id of an entry's document, valid until the next call.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="etag">The etag of the document that the entry was built from.</param>
    public ReadOnlySpan<byte> Read(int entry, out long etag)
    {
        if ((uint)entry >= (uint)entries)
        {
            throw new ArgumentOutOfRangeException(nameof(entry));
        }

        int wantedBlock = entry / DocumentTableWriter.BlockLength;
        int place = entry % DocumentTableWriter.BlockLength;
        if (wantedBlock != _block || place < _nextDocument - 1)
        {
            _block = wantedBlock;
            _nextDocument = 0;
            _offset = 0;
            _idLength = 0;
            _lastEtag = 0;
        }

        if (place >= _nextDocument)
        {
            ReadTo(place);
        }

        etag = _lastEtag;
        return _id.AsSpan(0, _idLength);
    }

    private void ReadTo(int place)
    {
        var bytes = pages.Read((long)addresses[_block], (int)lengths[_block], ref _scratch);
        for (; _nextDocument <= place; _nextDocument++)
        {
            int shared = Varint.ReadInt(bytes, ref _offset);
            int further = Varint.ReadInt(bytes, ref _offset);
            if (
                shared > _idLength
                || further > SegmentFormat.KeyLimitBytes - shared
                || further > bytes.Length - _offset
            )
            {
                _block = -1;
                throw SegmentFormat.Malformed();
            }

            if (shared + further > _id.Length)
            {
                Array.Resize(
                    ref _id,
                    Math.Min(SegmentFormat.KeyLimitBytes, Math.Max(FirstIdBytes, 2 * (shared + further)))
                );
            }

            bytes.Slice(_offset, further).CopyTo(_id.AsSpan(shared));
            _offset += further;
            _idLength = shared + further;
            ulong distance = Varint.Read(bytes, ref _offset);
            // Decodes zigzag, because an etag may be less than the one before it.
            _lastEtag += (long)(distance >> 1) ^ -(long)(distance & 1);
        }
    }
}
