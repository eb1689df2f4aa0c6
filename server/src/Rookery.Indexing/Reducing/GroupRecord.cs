using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// The stored record of a group: the position of its tree's root page, its reduce key and its reduced row.
/// </summary>
/// <param name="stored">The stored bytes.</param>
internal readonly ref struct GroupRecord(ReadOnlySpan<byte> stored)
{
    private const int HeaderBytes = 1 + ReduceKeys.NumberBytes + sizeof(int);

    private readonly ReadOnlySpan<byte> _stored = stored;

    /// <summary>Number of tree levels above the leaves.</summary>
    internal int Height => _stored[0];

    /// <summary>The fence of the root page: the least row number that it may contain.</summary>
    internal UInt128 Fence => BinaryPrimitives.ReadUInt128LittleEndian(_stored[1..]);

    /// <summary>The reduce key.</summary>
    internal ReadOnlySpan<byte> Key => _stored.Slice(HeaderBytes, KeyLength);

    /// <summary>The reduced row; empty when the rows could not be reduced.</summary>
    internal ReadOnlySpan<byte> Row => _stored[(HeaderBytes + KeyLength)..];

    private int KeyLength
    {
        get
        {
            int length = BinaryPrimitives.ReadInt32LittleEndian(_stored[(1 + ReduceKeys.NumberBytes)..]);
            Invariant.Holds(
                length >= 0 && length <= _stored.Length - HeaderBytes,
                "the record of a group holds its whole key"
            );
            return length;
        }
    }

    /// <summary>Writes a record.</summary>
    internal static void Write(
        int height,
        UInt128 fence,
        ReadOnlySpan<byte> key,
        ReadOnlySpan<byte> row,
        IBufferWriter<byte> record
    )
    {
        var header = record.GetSpan(HeaderBytes);
        header[0] = checked((byte)height);
        BinaryPrimitives.WriteUInt128LittleEndian(header[1..], fence);
        BinaryPrimitives.WriteInt32LittleEndian(header[(1 + ReduceKeys.NumberBytes)..], key.Length);
        record.Advance(HeaderBytes);
        record.Write(key);
        record.Write(row);
    }
}
