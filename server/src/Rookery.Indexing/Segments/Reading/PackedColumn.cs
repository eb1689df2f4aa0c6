using System.Buffers.Binary;

namespace Rookery.Indexing.Segments;

/// <summary>A column of numbers, by place. Its directory (17 bytes per 1024 values) is in memory; any number of threads may read.</summary>
internal sealed class PackedColumn
{
    private readonly SegmentPages pages;
    private readonly long[] addresses;
    private readonly ulong[] smallest;
    private readonly byte[] bits;

    /// <summary>Reads the directory.</summary>
    public PackedColumn(SegmentPages pages, PackedColumnRoot root)
    {
        this.pages = pages;
        Count = root.Count;
        addresses = new long[root.Chunks];
        smallest = new ulong[root.Chunks];
        bits = new byte[root.Chunks];
        byte[] scratch = [];
        for (int i = 0; i < addresses.Length; i++)
        {
            var entry = pages.Read(root.Directory + ((long)i * PackedColumnRoot.ChunkBytes), PackedColumnRoot.ChunkBytes, ref scratch);
            addresses[i] = BinaryPrimitives.ReadInt64LittleEndian(entry);
            smallest[i] = BinaryPrimitives.ReadUInt64LittleEndian(entry[8..]);
            bits[i] = entry[16] <= PackedColumnRoot.BitsLimit ? entry[16] : throw Varint.Malformed();
        }
    }

    /// <summary>Its values.</summary>
    public int Count { get; }

    /// <summary>The value at a place below <see cref="Count"/>.</summary>
    public ulong this[int place]
    {
        get
        {
            int chunk = place / PackedColumnRoot.ChunkLength;
            int width = bits[chunk];
            if (width == 0)
            {
                return smallest[chunk];
            }

            int bit = place % PackedColumnRoot.ChunkLength * width;
            byte[] page = pages.PageOf(addresses[chunk], out int offset);
            ulong word = BinaryPrimitives.ReadUInt64LittleEndian(page.AsSpan(offset + (bit >> 3)));
            return smallest[chunk] + ((word >> (bit & 7)) & ((1UL << width) - 1));
        }
    }
}
