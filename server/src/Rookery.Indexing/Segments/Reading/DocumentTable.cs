namespace Rookery.Indexing.Segments;

/// <summary>Ids and etags by entry. A reader of it has memory of its own for the id: one thread each. Going forward within a block it goes on from where it stood.</summary>
internal sealed class DocumentTable(SegmentPages pages, PackedColumn addresses, PackedColumn lengths, int entries)
{
    private const int FirstIdBytes = 64;

    private byte[] id = [];
    private byte[] scratch = [];
    private int idLength;
    private int block = -1;
    private int next;
    private int at;
    private long lastEtag;

    /// <summary>The lower-cased id of the document that an entry belongs to; until the next call.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="etag">The version of the document that the entry was made from.</param>
    public ReadOnlySpan<byte> Read(int entry, out long etag)
    {
        if ((uint)entry >= (uint)entries)
        {
            throw new ArgumentOutOfRangeException(nameof(entry));
        }

        int wanted = entry / DocumentTableWriter.BlockLength;
        int place = entry % DocumentTableWriter.BlockLength;
        if (wanted != block || place < next - 1)
        {
            (block, next, at, idLength, lastEtag) = (wanted, 0, 0, 0, 0);
        }

        if (place >= next)
        {
            ReadTo(place);
        }

        etag = lastEtag;
        return id.AsSpan(0, idLength);
    }

    private void ReadTo(int place)
    {
        var bytes = pages.Read((long)addresses[block], (int)lengths[block], ref scratch);
        for (; next <= place; next++)
        {
            int shared = Varint.ReadInt(bytes, ref at);
            int further = Varint.ReadInt(bytes, ref at);
            if (shared > idLength || further > SegmentFormat.KeyLimitBytes - shared || further > bytes.Length - at)
            {
                block = -1;
                throw Varint.Malformed();
            }

            if (shared + further > id.Length)
            {
                Array.Resize(ref id, Math.Min(SegmentFormat.KeyLimitBytes, Math.Max(FirstIdBytes, 2 * (shared + further))));
            }

            bytes.Slice(at, further).CopyTo(id.AsSpan(shared));
            at += further;
            idLength = shared + further;
            ulong distance = Varint.Read(bytes, ref at);
            lastEtag += (long)(distance >> 1) ^ -(long)(distance & 1);
        }
    }
}
