using System.Buffers.Binary;
using System.Numerics;
using Rookery.Disk;

namespace Rookery.Indexing.Segments;

/// <summary>Writes a column of numbers in chunks of 1024, each as the difference to the smallest of its chunk, with as many bits as the largest needs.</summary>
internal sealed class PackedColumnWriter(SegmentOutput output)
{
    private readonly ulong[] chunk = new ulong[PackedColumnRoot.ChunkLength];
    private readonly byte[] packed = new byte[(PackedColumnRoot.ChunkLength * PackedColumnRoot.BitsLimit / 8) + sizeof(ulong)];
    private readonly ByteSink directory = new();
    private int inChunk;
    private int count;

    /// <summary>Values added.</summary>
    public int Count => count;

    /// <summary>Adds a value.</summary>
    public void Add(ulong value)
    {
        chunk[inChunk++] = value;
        count++;
        if (inChunk == chunk.Length)
        {
            CloseChunk();
        }
    }

    /// <summary>Writes what is left.</summary>
    public PackedColumnRoot Finish()
    {
        if (inChunk > 0)
        {
            CloseChunk();
        }

        return new PackedColumnRoot(output.Write(directory.Span), count);
    }

    private void CloseChunk()
    {
        ulong smallest = ulong.MaxValue;
        ulong largest = 0;
        foreach (ulong value in chunk.AsSpan(0, inChunk))
        {
            smallest = Math.Min(smallest, value);
            largest = Math.Max(largest, value);
        }

        int bits = 64 - BitOperations.LeadingZeroCount(largest - smallest);
        Invariant.Holds(bits <= PackedColumnRoot.BitsLimit, "the values of a column's chunk lie within 56 bits");
        int bytes = ((inChunk * bits) + 7) / 8;
        var target = packed.AsSpan(0, bytes + sizeof(ulong));
        target.Clear();
        for (int i = 0; i < inChunk && bits > 0; i++)
        {
            int bit = i * bits;
            var word = target[(bit / 8)..];
            BinaryPrimitives.WriteUInt64LittleEndian(word, BinaryPrimitives.ReadUInt64LittleEndian(word) | ((chunk[i] - smallest) << (bit % 8)));
        }

        // Eight bytes can be read at the last value, too.
        long address = output.WriteUnit(target);
        var entry = directory.Take(PackedColumnRoot.ChunkBytes);
        BinaryPrimitives.WriteInt64LittleEndian(entry, address);
        BinaryPrimitives.WriteUInt64LittleEndian(entry[8..], smallest);
        entry[16] = (byte)bits;
        inChunk = 0;
    }
}
