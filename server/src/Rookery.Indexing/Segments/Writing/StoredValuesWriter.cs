using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>Writes values by entry in groups of about 4 KiB, compressed where that saves an eighth: per entry varint bytes, then these.</summary>
internal sealed class StoredValuesWriter(SegmentOutput output) : IDisposable
{
    private const int GroupBytes = 4096;

    private readonly PackedColumnWriter firstEntries = new(output);
    private readonly PackedColumnWriter addresses = new(output);
    private readonly PackedColumnWriter storedBytes = new(output);
    private readonly PackedColumnWriter rawBytes = new(output);
    private readonly ByteSink group = new(2 * GroupBytes);
    private PooledMemory compressed;
    private int entries;
    private int firstEntry;

    /// <summary>Adds the value of the next entry; empty for none.</summary>
    public void Add(ReadOnlySpan<byte> value)
    {
        group.WriteVarint((ulong)value.Length);
        group.Write(value);
        entries++;
        if (group.Length >= GroupBytes)
        {
            CloseGroup();
        }
    }

    /// <summary>Writes what is left.</summary>
    public (PackedColumnRoot FirstEntries, PackedColumnRoot Addresses, PackedColumnRoot StoredBytes, PackedColumnRoot RawBytes) Finish()
    {
        if (group.Length > 0)
        {
            CloseGroup();
        }

        return (firstEntries.Finish(), addresses.Finish(), storedBytes.Finish(), rawBytes.Finish());
    }

    /// <inheritdoc/>
    public void Dispose() => compressed.Return();

    private void CloseGroup()
    {
        compressed.Grow(0, group.Length);
        int worthwhile = group.Length - (group.Length / 8);
        int bytes = Lz4.Compress(group.Span, compressed.Span[..worthwhile]);
        firstEntries.Add((ulong)firstEntry);
        addresses.Add((ulong)output.Write(bytes > 0 ? compressed.Span[..bytes] : group.Span));
        storedBytes.Add((ulong)(bytes > 0 ? bytes : group.Length));
        rawBytes.Add((ulong)group.Length);
        group.Clear();
        firstEntry = entries;
    }
}
