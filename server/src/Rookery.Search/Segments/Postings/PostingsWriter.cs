using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Postings;

/// <summary>Writes the postings of one term after another, in the format of <see cref="PostingsFormat"/>.</summary>
/// <param name="output">Receives the bytes.</param>
internal sealed class PostingsWriter(SegmentOutput output)
{
    private readonly uint[] _gaps = new uint[PostingsFormat.BlockLength];
    private readonly uint[] _frequencies = new uint[PostingsFormat.BlockLength];
    private readonly GrowableBytes _block = new();
    private readonly GrowableBytes _positions = new();
    private readonly GrowableBytes _table = new();
    private readonly GrowableBytes _inline = new();
    private bool _isText;
    private long _count;
    private int _inBlock;
    private int _lastEntry;
    private int _lastOfBlockBefore;
    private int _positionsBefore;
    private int _blocksInGroup;
    private long _groupAddress;
    private Impact _blockImpact;
    private Impact _groupImpact;

    /// <summary>Number of postings of the term so far.</summary>
    public long Count => _count;

    /// <summary>Begins a term.</summary>
    public void Begin(bool hasFrequencies)
    {
        _isText = hasFrequencies;
        _count = 0;
        _inBlock = 0;
        _lastEntry = -1;
        _lastOfBlockBefore = -1;
        _positionsBefore = 0;
        _blocksInGroup = 0;
        _blockImpact = Impact.None;
        _groupImpact = Impact.None;
        _positions.Clear();
        _table.Clear();
        _inline.Clear();
    }

    /// <summary>Adds a posting. Entries must ascend (<see cref="Invariant"/>).</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="frequency">Occurrences of the term in the entry; 1 in fields without text.</param>
    /// <param name="length">The entry's length in tokens; 1 in fields without text.</param>
    /// <param name="encodedPositions">The positions as varint distances, one for each occurrence; empty in fields
    /// without text.</param>
    public void Add(int entry, int frequency, int length, ReadOnlySpan<byte> encodedPositions)
    {
        Invariant.Holds(entry > _lastEntry, "the entries of a term ascend");
        uint gap = (uint)(entry - _lastEntry - 1);
        _gaps[_inBlock] = gap;
        _frequencies[_inBlock] = (uint)frequency - 1;
        if (_count < PostingsFormat.InlineLimit && _inline.Length <= PostingsFormat.InlineLimitBytes)
        {
            WritePosting(_inline, gap, frequency);
            _inline.Append(encodedPositions);
        }

        _positions.Append(encodedPositions);
        _blockImpact = _blockImpact.Combine(frequency, length);
        _lastEntry = entry;
        _count++;
        if (++_inBlock == PostingsFormat.BlockLength)
        {
            CloseBlock();
        }
    }

    /// <summary>Ends the term and appends its payload for the dictionary.</summary>
    public void Finish(GrowableBytes payload)
    {
        if (_count <= PostingsFormat.InlineLimit && _inline.Length <= PostingsFormat.InlineLimitBytes)
        {
            payload.AppendVarint(((ulong)_count << 1) | 1);
            payload.Append(_inline.Written);
            return;
        }

        if (_inBlock > 0)
        {
            CloseBlock();
        }

        payload.AppendVarint((ulong)_count << 1);
        bool hasOneGroup = _table.Length == 0 || (_table.Length == PostingsFormat.GroupBytes && _blocksInGroup == 0);
        if (hasOneGroup)
        {
            if (_blocksInGroup > 0)
            {
                CloseGroup();
            }

            var only = _table.Written;
            // The offsets are those that CloseGroup writes.
            payload.AppendVarint(BinaryPrimitives.ReadUInt64LittleEndian(only[4..]));
            if (_isText)
            {
                payload.AppendVarint(BinaryPrimitives.ReadUInt32LittleEndian(only[20..]));
                payload.AppendVarint(BinaryPrimitives.ReadUInt32LittleEndian(only[24..]));
                payload.AppendVarint(BinaryPrimitives.ReadUInt64LittleEndian(only[12..]));
            }

            return;
        }

        if (_blocksInGroup > 0)
        {
            CloseGroup();
        }

        payload.AppendVarint(0);
        payload.AppendVarint((ulong)(_table.Length / PostingsFormat.GroupBytes));
        payload.AppendVarint((ulong)output.Write(_table.Written));
    }

    private void WritePosting(GrowableBytes sink, uint gap, int frequency)
    {
        if (!_isText)
        {
            sink.AppendVarint(gap);
            return;
        }

        sink.AppendVarint(((ulong)gap << 1) | (frequency == 1 ? 1u : 0));
        if (frequency != 1)
        {
            sink.AppendVarint((ulong)frequency);
        }
    }

    private void CloseBlock()
    {
        _block.Clear();
        if (_inBlock == PostingsFormat.BlockLength)
        {
            int bits = BitPacking.BitsOf(_gaps);
            int frequencyBits = BitPacking.BitsOf(_frequencies);
            WriteBlockHeader(PostingsFormat.FullBlock | bits, frequencyBits);
            BitPacking.Pack(_gaps, bits, _block.Take(BitPacking.BytesOf(bits)));
            if (_isText)
            {
                BitPacking.Pack(_frequencies, frequencyBits, _block.Take(BitPacking.BytesOf(frequencyBits)));
            }
        }
        else
        {
            WriteBlockHeader(PostingsFormat.LastBlock, frequencyBits: 0);
            _block.AppendVarint((ulong)_inBlock);
            // Reuses the buffer: a term with blocks is not stored in the dictionary.
            _inline.Clear();
            for (int i = 0; i < _inBlock; i++)
            {
                WritePosting(_inline, _gaps[i], (int)_frequencies[i] + 1);
            }

            _block.AppendVarint((ulong)_inline.Length);
            _block.Append(_inline.Written);
        }

        long address = output.WriteUnit(_block.Written);
        _groupAddress = _blocksInGroup == 0 ? address : _groupAddress;
        _groupImpact = _groupImpact.Combine(_blockImpact);
        _blockImpact = Impact.None;
        _positionsBefore = _positions.Length;
        _lastOfBlockBefore = _lastEntry;
        _inBlock = 0;
        if (
            ++_blocksInGroup == PostingsFormat.BlocksPerGroup
            || _positions.Length >= PostingsFormat.PositionsPerGroupBytes
        )
        {
            CloseGroup();
        }
    }

    private void WriteBlockHeader(int first, int frequencyBits)
    {
        _block.Append((byte)first);
        _block.AppendVarint((ulong)((long)_lastEntry - _lastOfBlockBefore));
        if (_isText)
        {
            _block.Append((byte)frequencyBits);
            _block.AppendVarint((ulong)_blockImpact.MaxFrequency);
            _block.AppendVarint((ulong)_blockImpact.MinLength);
            _block.AppendVarint((ulong)(_positions.Length - _positionsBefore));
        }
    }

    private void CloseGroup()
    {
        long positionsAddress = output.Write(_positions.Written);
        var group = _table.Take(PostingsFormat.GroupBytes);
        BinaryPrimitives.WriteInt32LittleEndian(group, _lastEntry);
        BinaryPrimitives.WriteInt64LittleEndian(group[4..], _groupAddress);
        BinaryPrimitives.WriteInt64LittleEndian(group[12..], positionsAddress);
        BinaryPrimitives.WriteInt32LittleEndian(group[20..], _groupImpact.MaxFrequency);
        BinaryPrimitives.WriteInt32LittleEndian(group[24..], _groupImpact.MinLength);
        _positions.Clear();
        _positionsBefore = 0;
        _blocksInGroup = 0;
        _groupImpact = Impact.None;
    }
}
