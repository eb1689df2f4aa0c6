using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Which rows of which groups are a document's: runs of numbers, by group. So they are found when it changes.
/// </summary>
/// <param name="stored">As it is stored; empty for a document without rows.</param>
internal readonly ref struct DocumentRecord(ReadOnlySpan<byte> stored)
{
    private const int RunBytes = ReduceKeys.GroupIdBytes + ReduceKeys.NumberBytes + sizeof(int);

    private readonly ReadOnlySpan<byte> _stored = stored;

    /// <summary>Groups it has rows in.</summary>
    internal int Count => _stored.Length / RunBytes;

    /// <summary>Its rows in one of them; ascending by group.</summary>
    internal RowRun this[int index]
    {
        get
        {
            Invariant.Holds(_stored.Length % RunBytes is 0, "the record of a document holds whole runs");
            var run = _stored.Slice(index * RunBytes, RunBytes);
            return new RowRun(
                BinaryPrimitives.ReadUInt128BigEndian(run),
                BinaryPrimitives.ReadUInt128LittleEndian(run[ReduceKeys.GroupIdBytes..]),
                BinaryPrimitives.ReadInt32LittleEndian(run[(ReduceKeys.GroupIdBytes + ReduceKeys.NumberBytes)..])
            );
        }
    }

    /// <summary>Writes a run behind those before.</summary>
    internal static void Write(in RowRun run, IBufferWriter<byte> record)
    {
        var room = record.GetSpan(RunBytes);
        BinaryPrimitives.WriteUInt128BigEndian(room, run.Group);
        BinaryPrimitives.WriteUInt128LittleEndian(room[ReduceKeys.GroupIdBytes..], run.First);
        BinaryPrimitives.WriteInt32LittleEndian(room[(ReduceKeys.GroupIdBytes + ReduceKeys.NumberBytes)..], run.Count);
        record.Advance(RunBytes);
    }
}

/// <summary>Rows of a document in one group.</summary>
/// <param name="Group">The group.</param>
/// <param name="First">The number of the first.</param>
/// <param name="Count">How many; numbers run on.</param>
internal readonly record struct RowRun(UInt128 Group, UInt128 First, int Count);
