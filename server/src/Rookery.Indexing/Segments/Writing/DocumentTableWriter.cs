namespace Rookery.Indexing.Segments;

/// <summary>Writes ids and etags by entry: blocks of 32, in each varint shared bytes with the id before, varint further bytes, these, varint etag - etag before (zigzag).</summary>
internal sealed class DocumentTableWriter(SegmentOutput output)
{
    /// <summary>Entries of a block.</summary>
    public const int BlockLength = 32;

    private readonly PackedColumnWriter addresses = new(output);
    private readonly PackedColumnWriter lengths = new(output);
    private readonly ByteSink block = new();
    private readonly byte[] lastId = new byte[SegmentFormat.KeyLimitBytes];
    private int lastIdLength;
    private long lastEtag;
    private int inBlock;

    /// <summary>Adds the next entry.</summary>
    public void Add(ReadOnlySpan<byte> id, long etag)
    {
        int shared = id.CommonPrefixLength(lastId.AsSpan(0, lastIdLength));
        block.WriteVarint((ulong)shared);
        block.WriteVarint((ulong)(id.Length - shared));
        block.Write(id[shared..]);
        long distance = etag - lastEtag;
        block.WriteVarint((ulong)((distance << 1) ^ (distance >> 63)));
        id.CopyTo(lastId);
        lastIdLength = id.Length;
        lastEtag = etag;
        if (++inBlock == BlockLength)
        {
            CloseBlock();
        }
    }

    /// <summary>Writes what is left.</summary>
    public (PackedColumnRoot Addresses, PackedColumnRoot Lengths) Finish()
    {
        if (inBlock > 0)
        {
            CloseBlock();
        }

        return (addresses.Finish(), lengths.Finish());
    }

    private void CloseBlock()
    {
        addresses.Add((ulong)output.Write(block.Span));
        lengths.Add((ulong)block.Length);
        block.Clear();
        lastIdLength = 0;
        lastEtag = 0;
        inBlock = 0;
    }
}
