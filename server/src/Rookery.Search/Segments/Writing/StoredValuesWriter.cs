using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes values by entry in groups of about 4 KiB. For each entry: varint length, then the bytes. A group is
/// compressed if that saves at least an eighth.
/// </summary>
internal sealed class StoredValuesWriter(SegmentOutput output) : IDisposable
{
    private const int GroupBytes = 4096;

    private readonly PackedColumnWriter _firstEntries = new(output);
    private readonly PackedColumnWriter _addresses = new(output);
    private readonly PackedColumnWriter _storedBytes = new(output);
    private readonly PackedColumnWriter _rawBytes = new(output);
    private readonly GrowableBytes _group = new();
    private PooledMemory _compressed;
    private int _entries;
    private int _firstEntry;

    /// <summary>Adds the value of the next entry; empty for none.</summary>
    public void Add(ReadOnlySpan<byte> value)
    {
        _group.AppendVarint((ulong)value.Length);
        _group.Append(value);
        _entries++;
        if (_group.Length >= GroupBytes)
        {
            CloseGroup();
        }
    }

    /// <summary>Writes what is buffered and returns the locations of the groups.</summary>
    public (
        PackedColumnRoot FirstEntries,
        PackedColumnRoot Addresses,
        PackedColumnRoot StoredBytes,
        PackedColumnRoot RawBytes
    ) Finish()
    {
        if (_group.Length > 0)
        {
            CloseGroup();
        }

        return (_firstEntries.Finish(), _addresses.Finish(), _storedBytes.Finish(), _rawBytes.Finish());
    }

    /// <inheritdoc/>
    public void Dispose() => _compressed.Return();

    private void CloseGroup()
    {
        _compressed.Grow(0, _group.Length);
        // The compressed length is 0 if the group does not compress to this length.
        int maxCompressedBytes = _group.Length - (_group.Length / 8);
        int bytes = Lz4.Compress(_group.Written, _compressed.Span[..maxCompressedBytes]);
        _firstEntries.Add((ulong)_firstEntry);
        _addresses.Add((ulong)output.Write(bytes > 0 ? _compressed.Span[..bytes] : _group.Written));
        _storedBytes.Add((ulong)(bytes > 0 ? bytes : _group.Length));
        _rawBytes.Add((ulong)_group.Length);
        _group.Clear();
        _firstEntry = _entries;
    }
}
