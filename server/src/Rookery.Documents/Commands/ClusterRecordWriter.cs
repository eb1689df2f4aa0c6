using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes a <see cref="CommandKind.SetClusterRecords"/>: stores and deletes cluster records, all or none. If a record
/// has another version than expected, the command is refused with <see cref="RejectionKind.ConcurrencyConflict"/>, and
/// <see cref="Rejection.Actual"/> is that version in digits. The <see cref="OperationResult.Etag"/> of a result is the
/// record's new version.
/// </summary>
/// <remarks>
/// A record: <c>[flags u8: 1 value, 2 expectation][expected version i64 if flag 2][key][value if flag 1]</c>. A varint
/// length precedes each text.
/// </remarks>
public sealed class ClusterRecordWriter : IDisposable
{
    internal const byte HasValue = 1;
    internal const byte HasExpectation = 2;

    private CommandBuffer? _buffer = CommandBuffer.Rent();

    /// <summary>Begins a command.</summary>
    public ClusterRecordWriter() =>
        CommandFormat.WriteHeader(Buffer, CommandKind.SetClusterRecords, database: 0, operations: 0, key: default);

    /// <summary>Number of records added.</summary>
    public int Count { get; private set; }

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(ClusterRecordWriter));

    /// <summary>Stores a record.</summary>
    /// <param name="key">A key (<see cref="ClusterRecord.IsKey"/>).</param>
    /// <param name="value">At most <see cref="ClusterRecord.MaxValueBytes"/> bytes.</param>
    /// <param name="expectedVersion">The version that the record must have; <see cref="ClusterRecord.Absent"/> if it
    /// must not exist; null for any.</param>
    public void Set(string key, ReadOnlySpan<byte> value, long? expectedVersion = null)
    {
        Invariant.Holds(
            value.Length <= ClusterRecord.MaxValueBytes,
            "the values of cluster records are checked before they are encoded"
        );
        WriteHead(key, HasValue, expectedVersion);
        WriteBytes(value);
    }

    /// <summary>Deletes a record. A missing record is no error unless a version is expected.</summary>
    /// <inheritdoc cref="Set"/>
    public void Delete(string key, long? expectedVersion = null) => WriteHead(key, flags: 0, expectedVersion);

    /// <summary>Finishes the command; the caller owns the buffer.</summary>
    public CommandBuffer Complete()
    {
        CommandBuffer complete = Buffer;
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

    private void WriteHead(string key, byte flags, long? expectedVersion)
    {
        Invariant.Holds(ClusterRecord.IsKey(key), "the keys of cluster records are checked before they are encoded");
        Span<byte> head = Buffer.GetSpan(1 + sizeof(long));
        head[0] = (byte)(flags | (expectedVersion is null ? 0 : HasExpectation));
        if (expectedVersion is { } version)
        {
            BinaryPrimitives.WriteInt64LittleEndian(head[1..], version);
        }

        Buffer.Advance(expectedVersion is null ? 1 : 1 + sizeof(long));
        Span<byte> text = stackalloc byte[ClusterRecord.MaxKeyBytes];
        WriteBytes(text[..Encoding.ASCII.GetBytes(key, text)]);
        Count++;
    }

    private void WriteBytes(ReadOnlySpan<byte> bytes) =>
        Buffer.Advance(Varint.WriteBytes(Buffer.GetSpan(Varint.MaxBytes32 + bytes.Length), bytes));
}
