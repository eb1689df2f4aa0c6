using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes a tree of ascending keys, each with a payload, in one pass from the leaves up. A leaf has about 1 KiB: varint
/// number of items, then for each item varint bytes shared with the previous key, varint further bytes, these bytes,
/// varint payload bytes, the payload. A block above the leaves has the same form, with an item for each child. The
/// item's key separates the children: it is greater than the last key of the previous child, and not greater than the
/// first key of this child. Directly above the leaves it is as short as possible. The item's payload is varint address
/// and varint number of keys below. Up to 128 KiB of blocks of one level are written together, so that a walk over the
/// keys does not read the postings between them.
/// </summary>
internal sealed class KeyTreeWriter
{
    private const int BlockBytes = 1024;
    private const int MinItems = 4;
    private const int RunBytes = 128 << 10;

    private readonly SegmentOutput _output;
    private readonly bool _isLeaf;
    private readonly GrowableBytes _items = new();
    private readonly GrowableBytes _sealedBlocks = new();

    // The blocks in _sealedBlocks: the separator from the previous block, the offset, and the number of keys below.
    private readonly List<(byte[] Separator, int Start, long Keys)> _run = [];
    private readonly byte[] _lastKey = new byte[SegmentFormat.KeyLimitBytes];
    private readonly GrowableBytes _childPayload = new();
    private KeyTreeWriter? _parent;
    private byte[] _separator = [];
    private int _lastKeyLength;
    private int _itemCount;
    private long _keysInBlock;
    private long _blocks;
    private long _lastAddress;

    public KeyTreeWriter(SegmentOutput output)
        : this(output, isLeaf: true) { }

    private KeyTreeWriter(SegmentOutput output, bool isLeaf) => (_output, _isLeaf) = (output, isLeaf);

    /// <summary>Number of keys added.</summary>
    public long Count { get; private set; }

    /// <summary>Adds a key. Keys must ascend (<see cref="Invariant"/>).</summary>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> payload) => Add(key, payload, keys: 1);

    /// <summary>Writes what is buffered and returns the root.</summary>
    public KeyTreeRoot Finish()
    {
        if (Count == 0)
        {
            return default;
        }

        SealBlock();
        return FinishLevel(1);
    }

    private void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> payload, long keys)
    {
        var last = _lastKey.AsSpan(0, _lastKeyLength);
        Invariant.Holds(key.Length <= SegmentFormat.KeyLimitBytes, "a key is no longer than a term");
        Invariant.Holds(Count == 0 || key.SequenceCompareTo(last) > 0, "the keys of a tree ascend");
        int shared = key.CommonPrefixLength(last);
        if (_items.Length >= BlockBytes && _itemCount >= MinItems)
        {
            SealBlock();

            // Only separators of leaves are shortened. On higher levels the keys are separators, and the child of the
            // previous separator contains greater keys than the separator. A shortened key might not be greater than
            // those.
            _separator = (_isLeaf ? key[..(shared + 1)] : key).ToArray();
        }

        // The first key of a block is stored whole, so that a block can be read alone.
        shared = _itemCount == 0 ? 0 : shared;
        _items.AppendVarint((ulong)shared);
        _items.AppendVarint((ulong)(key.Length - shared));
        _items.Append(key[shared..]);
        _items.AppendVarint((ulong)payload.Length);
        _items.Append(payload);
        key.CopyTo(_lastKey);
        _lastKeyLength = key.Length;
        _itemCount++;
        _keysInBlock += keys;
        Count += keys;
    }

    private void SealBlock()
    {
        _run.Add((_separator, _sealedBlocks.Length, _keysInBlock));
        _sealedBlocks.AppendVarint((ulong)_itemCount);
        _sealedBlocks.Append(_items.Written);
        _items.Clear();
        _itemCount = 0;
        _keysInBlock = 0;
        _blocks++;
        if (_sealedBlocks.Length >= RunBytes)
        {
            WriteRun();
        }
    }

    private void WriteRun()
    {
        for (int i = 0; i < _run.Count; i++)
        {
            int end = i + 1 < _run.Count ? _run[i + 1].Start : _sealedBlocks.Length;
            _lastAddress = _output.WriteUnit(_sealedBlocks.Written[_run[i].Start..end]);

            // A tree of one block needs no level above.
            if (_blocks > 1)
            {
                _parent ??= new KeyTreeWriter(_output, isLeaf: false);
                _childPayload.Clear();
                _childPayload.AppendVarint((ulong)_lastAddress);
                _childPayload.AppendVarint((ulong)_run[i].Keys);
                _parent.Add(_run[i].Separator, _childPayload.Written, _run[i].Keys);
            }
        }

        _sealedBlocks.Clear();
        _run.Clear();
    }

    private KeyTreeRoot FinishLevel(int height)
    {
        WriteRun();
        if (_parent is null)
        {
            return new KeyTreeRoot(_lastAddress, height, Count);
        }

        _parent.SealBlock();
        return _parent.FinishLevel(height + 1);
    }
}
