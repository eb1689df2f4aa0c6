using System.Buffers.Binary;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Schedules;

/// <summary>
/// Encodes a <see cref="CommandKind.RunSchedule"/>: <c>[action u8]</c>, then for each document <c>[etag i64][due ticks
/// i64][lower-cased id u16+bytes]</c>.
/// </summary>
public sealed class ScheduleWriter : IDisposable
{
    private CommandBuffer? _buffer = CommandBuffer.Rent();

    /// <summary>Begins a command.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="action">What to do with the documents.</param>
    public ScheduleWriter(uint database, ScheduleAction action)
    {
        CommandFormat.WriteHeader(Buffer, CommandKind.RunSchedule, database, operations: 0, key: default);
        Buffer.GetSpan(1)[0] = (byte)action;
        Buffer.Advance(1);
    }

    /// <summary>Number of documents added.</summary>
    public int Count { get; private set; }

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(ScheduleWriter));

    /// <summary>Adds a document.</summary>
    /// <param name="lowerId">The lower-cased id.</param>
    /// <param name="etag">Etag of the version; any other version is kept.</param>
    /// <param name="dueTicks">The time of the row that named the document; 0 to add the document's rows.</param>
    public void Add(ReadOnlySpan<byte> lowerId, long etag, long dueTicks = 0)
    {
        Span<byte> span = Buffer.GetSpan((2 * sizeof(long)) + sizeof(ushort) + lowerId.Length);
        BinaryPrimitives.WriteInt64LittleEndian(span, etag);
        BinaryPrimitives.WriteInt64LittleEndian(span[sizeof(long)..], dueTicks);
        Buffer.Advance(CommandFormat.WriteShort(span, at: 2 * sizeof(long), lowerId));
        Count++;
    }

    /// <summary>Finishes the command; the caller owns the buffer.</summary>
    public CommandBuffer Complete()
    {
        var complete = Buffer;
        _buffer = null;
        BinaryPrimitives.WriteInt32LittleEndian(complete.WrittenSpan[CommandFormat.OperationCountOffset..], Count);
        return complete;
    }

    /// <summary>Releases the buffer unless <see cref="Complete"/> returned it.</summary>
    public void Dispose()
    {
        _buffer?.Dispose();
        _buffer = null;
    }
}

/// <summary>What a <see cref="CommandKind.RunSchedule"/> does. Numbers are part of the journal's format.</summary>
public enum ScheduleAction : byte
{
    /// <summary>Refreshes documents that are due.</summary>
    Refresh = ScheduleKind.Refresh,

    /// <summary>Archives documents that are due.</summary>
    Archive = ScheduleKind.Archive,

    /// <summary>
    /// Adds the rows of documents that were stored before the database was configured. Changes no document.
    /// </summary>
    Register = 3,
}
