using System.Buffers.Binary;
using System.Numerics;
using Rookery.Platform;
using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes a column of numbers in chunks of 1024. Each number is stored as its difference from the smallest of its
/// chunk, with as many bits as the largest difference needs.
/// </summary>
internal sealed class PackedColumnWriter(SegmentOutput output)
{
    private readonly ulong[] _chunk = new ulong[PackedColumnRoot.ChunkLength];
    private readonly byte[] _packed = new byte[
        (PackedColumnRoot.ChunkLength * PackedColumnRoot.BitsLimit / 8) + sizeof(ulong)
    ];
    private readonly GrowableBytes _directory = new();
    private int _chunkCount;
    private int _count;

    /// <summary>Number of values added.</summary>
    public int Count => _count;

    /// <summary>Adds a value.</summary>
    public void Add(ulong value)
    {
        _chunk[_chunkCount++] = value;
        _count++;
        if (_chunkCount == _chunk.Length)
        {
            CloseChunk();
        }
    }

    /// <summary>Writes what is buffered and returns the root.</summary>
    public PackedColumnRoot Finish()
    {
        if (_chunkCount > 0)
        {
            CloseChunk();
        }

        return new PackedColumnRoot(output.Write(_directory.Written), _count);
    }

    private void CloseChunk()
    {
        ulong smallest = ulong.MaxValue;
        ulong largest = 0;
        foreach (ulong value in _chunk.AsSpan(0, _chunkCount))
        {
            smallest = Math.Min(smallest, value);
            largest = Math.Max(largest, value);
        }

        int bits = 64 - BitOperations.LeadingZeroCount(largest - smallest);
        Invariant.Holds(bits <= PackedColumnRoot.BitsLimit, "the values of a column's chunk lie within 56 bits");
        int bytes = ((_chunkCount * bits) + 7) / 8;
        var target = _packed.AsSpan(0, bytes + sizeof(ulong));
        target.Clear();
        for (int i = 0; i < _chunkCount && bits > 0; i++)
        {
            int bit = i * bits;
            var word = target[(bit / 8)..];
            BinaryPrimitives.WriteUInt64LittleEndian(
                word,
                BinaryPrimitives.ReadUInt64LittleEndian(word) | ((_chunk[i] - smallest) << (bit % 8))
            );
        }

        // Includes eight bytes of padding, so that a reader can read eight bytes at the last value.
        long address = output.WriteUnit(target);
        var entry = _directory.Take(PackedColumnRoot.ChunkBytes);
        BinaryPrimitives.WriteInt64LittleEndian(entry, address);
        BinaryPrimitives.WriteUInt64LittleEndian(entry[sizeof(long)..], smallest);
        entry[sizeof(long) + sizeof(ulong)] = (byte)bits;
        _chunkCount = 0;
    }
}
