using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes ids and etags by entry, in blocks of 32. For each entry: varint bytes shared with the previous id, varint
/// further bytes, these bytes, varint zigzag of the etag minus the previous etag.
/// </summary>
internal sealed class DocumentTableWriter(SegmentOutput output)
{
    /// <summary>Number of entries in a block.</summary>
    public const int BlockLength = 32;

    private readonly PackedColumnWriter _addresses = new(output);
    private readonly PackedColumnWriter _lengths = new(output);
    private readonly GrowableBytes _block = new();
    private readonly byte[] _lastId = new byte[SegmentFormat.KeyLimitBytes];
    private int _lastIdLength;
    private long _lastEtag;
    private int _inBlock;

    /// <summary>Adds the next entry.</summary>
    public void Add(ReadOnlySpan<byte> id, long etag)
    {
        int shared = id.CommonPrefixLength(_lastId.AsSpan(0, _lastIdLength));
        _block.AppendVarint((ulong)shared);
        _block.AppendVarint((ulong)(id.Length - shared));
        _block.Append(id[shared..]);
        long distance = etag - _lastEtag;
        _block.AppendVarint((ulong)((distance << 1) ^ (distance >> 63)));
        id.CopyTo(_lastId);
        _lastIdLength = id.Length;
        _lastEtag = etag;
        if (++_inBlock == BlockLength)
        {
            CloseBlock();
        }
    }

    /// <summary>Writes what is buffered and returns the locations of the blocks.</summary>
    public (PackedColumnRoot Addresses, PackedColumnRoot Lengths) Finish()
    {
        if (_inBlock > 0)
        {
            CloseBlock();
        }

        return (_addresses.Finish(), _lengths.Finish());
    }

    private void CloseBlock()
    {
        _addresses.Add((ulong)output.Write(_block.Written));
        _lengths.Add((ulong)_block.Length);
        _block.Clear();
        _lastIdLength = 0;
        _lastEtag = 0;
        _inBlock = 0;
    }
}
