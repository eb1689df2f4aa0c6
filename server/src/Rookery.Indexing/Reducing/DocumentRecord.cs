using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// The stored list of a document's rows: ranges of row numbers, ordered by group. It serves to find the rows of a
/// changed document.
/// </summary>
/// <param name="stored">The stored bytes; empty for a document without rows.</param>
internal readonly ref struct DocumentRecord(ReadOnlySpan<byte> stored)
{
    private const int RunBytes = ReduceKeys.GroupIdBytes + ReduceKeys.NumberBytes + sizeof(int);

    private readonly ReadOnlySpan<byte> _stored = stored;

    /// <summary>Number of groups in which the document has rows.</summary>
    internal int Count => _stored.Length / RunBytes;

    /// <summary>The document's rows in one group. Groups are in ascending order.</summary>
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

    /// <summary>Appends a range of rows.</summary>
    internal static void Write(in RowRun run, IBufferWriter<byte> record)
    {
        var room = record.GetSpan(RunBytes);
        BinaryPrimitives.WriteUInt128BigEndian(room, run.Group);
        BinaryPrimitives.WriteUInt128LittleEndian(room[ReduceKeys.GroupIdBytes..], run.First);
        BinaryPrimitives.WriteInt32LittleEndian(room[(ReduceKeys.GroupIdBytes + ReduceKeys.NumberBytes)..], run.Count);
        record.Advance(RunBytes);
    }
}

/// <summary>The rows of a document in one group, numbered consecutively.</summary>
/// <param name="Group">The id of the group.</param>
/// <param name="First">The number of the first row.</param>
/// <param name="Count">Number of rows.</param>
internal readonly record struct RowRun(UInt128 Group, UInt128 First, int Count);
