using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The reference that a row contains instead of a large value: [u64 length][u32 chunk bytes][common prefix of the chunk
/// keys], little-endian. A chunk's key is [u32 database][table 255][u64 journal index][u16 number of the value in its
/// batch][u32 chunk], big-endian. It is unique because journal indexes are.
/// </summary>
internal readonly ref struct LargeValue
{
    /// <summary>Length of a reference.</summary>
    public const int ReferenceBytes = sizeof(long) + sizeof(int) + StemBytes;

    /// <summary>Length of the common prefix of a value's chunk keys.</summary>
    public const int StemBytes = MemtableNode.KeyspaceBytes + sizeof(long) + sizeof(ushort);

    /// <summary>Length of a chunk's key.</summary>
    public const int ChunkKeyBytes = StemBytes + sizeof(uint);

    private readonly ReadOnlySpan<byte> _reference;

    /// <summary>Decodes a reference.</summary>
    public LargeValue(ReadOnlySpan<byte> reference)
    {
        Invariant.Holds(reference.Length == ReferenceBytes, "a reference to a large value has its fixed length");
        _reference = reference;
    }

    /// <summary>Length of the value.</summary>
    public long Length => BinaryPrimitives.ReadInt64LittleEndian(_reference);

    /// <summary>Common prefix of the chunk keys.</summary>
    public ReadOnlySpan<byte> Stem => _reference[^StemBytes..];

    private int ChunkBytes => BinaryPrimitives.ReadInt32LittleEndian(_reference[sizeof(long)..]);

    /// <summary>Encodes a reference.</summary>
    public static void WriteReference(Span<byte> target, long length, int chunkBytes, ReadOnlySpan<byte> stem)
    {
        BinaryPrimitives.WriteInt64LittleEndian(target, length);
        BinaryPrimitives.WriteInt32LittleEndian(target[sizeof(long)..], chunkBytes);
        stem.CopyTo(target[(sizeof(long) + sizeof(int))..]);
    }

    /// <summary>Writes the common prefix of a value's chunk keys.</summary>
    public static void WriteStem(Span<byte> target, ReadOnlySpan<byte> rowKey, long index, ushort ordinal)
    {
        rowKey[..sizeof(uint)].CopyTo(target);
        target[sizeof(uint)] = TableMap.Chunks;
        BinaryPrimitives.WriteInt64BigEndian(target[MemtableNode.KeyspaceBytes..], index);
        BinaryPrimitives.WriteUInt16BigEndian(target[(MemtableNode.KeyspaceBytes + sizeof(long))..], ordinal);
    }

    /// <summary>Writes the key of a chunk.</summary>
    public static void WriteChunkKey(Span<byte> target, ReadOnlySpan<byte> stem, uint chunk)
    {
        stem.CopyTo(target);
        BinaryPrimitives.WriteUInt32BigEndian(target[StemBytes..], chunk);
    }

    /// <summary>Writes the key of the row that records the release of a value.</summary>
    public static void WriteReleasedKey(Span<byte> target, ReadOnlySpan<byte> stem)
    {
        stem.CopyTo(target);
        target[sizeof(uint)] = TableMap.Released;
    }

    /// <summary>Copies <paramref name="count"/> bytes of the value, from byte <paramref name="offset"/>.</summary>
    public void CopyTo(EngineState state, int visibleBatch, IBufferWriter<byte> target, long offset, long count)
    {
        Span<byte> key = stackalloc byte[ChunkKeyBytes];
        while (count > 0)
        {
            (long chunk, long within) = Math.DivRem(offset, ChunkBytes);
            WriteChunkKey(key, Stem, (uint)chunk);
            Invariant.Holds(
                Lookup.TryGetAnyKind(state, visibleBatch, key, out Row row),
                "the chunks of a large value live as long as its row"
            );
            using (row)
            {
                ReadOnlySpan<byte> part = row.Stored[(int)within..];
                part = part[..(int)Math.Min(part.Length, count)];
                target.Write(part);
                offset += part.Length;
                count -= part.Length;
            }
        }
    }

    /// <summary>Looks up all chunks, so that their checksums are checked.</summary>
    public void ReadThrough(EngineState state, int visibleBatch)
    {
        Span<byte> key = stackalloc byte[ChunkKeyBytes];
        for (long chunk = 0; chunk * ChunkBytes < Length; chunk++)
        {
            WriteChunkKey(key, Stem, (uint)chunk);
            Invariant.Holds(
                Lookup.TryGetAnyKind(state, visibleBatch, key, out Row row),
                "the chunks of a large value live as long as its row"
            );
            row.Dispose();
        }
    }
}
