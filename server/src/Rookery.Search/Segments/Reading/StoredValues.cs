using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Reading;

/// <summary>
/// Reads the stored values of a segment by entry. Keeps the last decompressed group. Not thread-safe.
/// </summary>
public sealed class StoredValues(
    SegmentPages pages,
    PackedColumn firstEntries,
    PackedColumn addresses,
    PackedColumn storedBytes,
    PackedColumn rawBytes
) : IDisposable
{
    private byte[] _scratch = [];
    private PooledMemory _raw;
    private int _rawLength;
    private int _group = -1;

    // The entry whose value begins at _offset in the group.
    private int _offsetEntry;
    private int _offset;

    /// <summary>Returns the value of an entry, valid until the next call; empty if it has none.</summary>
    public ReadOnlySpan<byte> Read(int entry)
    {
        if (firstEntries.Count == 0)
        {
            return default;
        }

        int group = GroupOf(entry);
        if (group != _group)
        {
            Open(group);
        }

        if (entry < _offsetEntry)
        {
            _offsetEntry = (int)firstEntries[_group];
            _offset = 0;
        }

        var bytes = _raw.Span[.._rawLength];
        int at = _offset;
        int length = Varint.ReadInt(bytes, ref at);
        for (; _offsetEntry < entry; _offsetEntry++)
        {
            at = length <= _rawLength - at ? at + length : throw SegmentFormat.Malformed();
            _offset = at;
            length = Varint.ReadInt(bytes, ref at);
        }

        return length <= _rawLength - at ? bytes.Slice(at, length) : throw SegmentFormat.Malformed();
    }

    /// <inheritdoc/>
    public void Dispose() => _raw.Return();

    private int GroupOf(int entry)
    {
        int from = 0;
        int to = firstEntries.Count - 1;
        while (from < to)
        {
            int middle = (from + to + 1) >>> 1;
            if (firstEntries[middle] <= (ulong)entry)
            {
                from = middle;
            }
            else
            {
                to = middle - 1;
            }
        }

        return from;
    }

    private void Open(int group)
    {
        _group = -1;
        int stored = (int)storedBytes[group];
        _rawLength = (int)rawBytes[group];
        var bytes = pages.Read((long)addresses[group], stored, ref _scratch);
        _raw.Grow(0, _rawLength);
        if (stored == _rawLength)
        {
            bytes.CopyTo(_raw.Span);
        }
        else if (_rawLength < stored || !Lz4.TryDecompress(bytes, _raw.Span[.._rawLength]))
        {
            throw SegmentFormat.Malformed();
        }

        _group = group;
        _offsetEntry = (int)firstEntries[group];
        _offset = 0;
    }
}
