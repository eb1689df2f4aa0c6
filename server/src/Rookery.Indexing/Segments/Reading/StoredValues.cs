using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>The stored values of a segment, by entry. A reader keeps the group that it expanded last: one thread each, and to be disposed.</summary>
internal sealed class StoredValues(SegmentPages pages, PackedColumn firstEntries, PackedColumn addresses, PackedColumn storedBytes, PackedColumn rawBytes) : IDisposable
{
    private byte[] scratch = [];
    private PooledMemory raw;
    private int rawLength;
    private int group = -1;
    private int entryAt;
    private int offset;

    /// <summary>The value of an entry, empty when it has none; until the next call.</summary>
    public ReadOnlySpan<byte> Read(int entry)
    {
        if (firstEntries.Count == 0)
        {
            return default;
        }

        int wanted = GroupOf(entry);
        if (wanted != group)
        {
            Open(wanted);
        }

        if (entry < entryAt)
        {
            entryAt = (int)firstEntries[group];
            offset = 0;
        }

        var bytes = raw.Span[..rawLength];
        int at = offset;
        int length = Varint.ReadInt(bytes, ref at);
        for (; entryAt < entry; entryAt++)
        {
            at = length <= rawLength - at ? at + length : throw Varint.Malformed();
            offset = at;
            length = Varint.ReadInt(bytes, ref at);
        }

        return length <= rawLength - at ? bytes.Slice(at, length) : throw Varint.Malformed();
    }

    /// <inheritdoc/>
    public void Dispose() => raw.Return();

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

    private void Open(int wanted)
    {
        group = -1;
        int stored = (int)storedBytes[wanted];
        rawLength = (int)rawBytes[wanted];
        var bytes = pages.Read((long)addresses[wanted], stored, ref scratch);
        raw.Grow(0, rawLength);
        if (stored == rawLength)
        {
            bytes.CopyTo(raw.Span);
        }
        else if (rawLength < stored || !Lz4.TryDecompress(bytes, raw.Span[..rawLength]))
        {
            throw Varint.Malformed();
        }

        group = wanted;
        entryAt = (int)firstEntries[wanted];
        offset = 0;
    }
}
