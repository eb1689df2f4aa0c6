using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes <see cref="CommandKind.SetClusterRecords"/>: cluster records that are stored and deleted, all or none. A
/// record that another version was expected of refuses the command with
/// <see cref="RejectionKind.ConcurrencyConflict"/>, whose <see cref="Rejection.Actual"/> is the version that it has, in
/// digits; what was stored has the
/// <see cref="OperationResult.Etag"/> of its result as its version.
/// </summary>
/// <remarks>
/// A record: <c>[flags u8: 1 value, 2 expectation][expected version i64 if flag 2][key][value if flag 1]</c>, texts
/// after their varint length.
/// </remarks>
public sealed class ClusterRecordWriter : IDisposable
{
    internal const byte HasValue = 1;
    internal const byte HasExpectation = 2;

    private CommandBuffer? _buffer = CommandBuffer.Rent();

    /// <summary>Begins a command.</summary>
    public ClusterRecordWriter() => CommandFormat.WriteHeader(Buffer, CommandKind.SetClusterRecords, 0, 0, default);

    /// <summary>Records so far.</summary>
    public int Count { get; private set; }

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(ClusterRecordWriter));

    /// <summary>Stores a record.</summary>
    /// <param name="key">A key (<see cref="ClusterRecord.IsKey"/>).</param>
    /// <param name="value">At most <see cref="ClusterRecord.MaxValueBytes"/> bytes.</param>
    /// <param name="expectedVersion">The version that it must have, <see cref="ClusterRecord.Absent"/> if there must be
    /// none; null for any.</param>
    public void Set(string key, ReadOnlySpan<byte> value, long? expectedVersion = null)
    {
        Invariant.Holds(
            value.Length <= ClusterRecord.MaxValueBytes,
            "the values of cluster records are checked before they are encoded"
        );
        WriteHead(key, HasValue, expectedVersion);
        WriteBytes(value);
    }

    /// <summary>Deletes a record. It is no error that there is none, unless a version is expected.</summary>
    /// <inheritdoc cref="Set"/>
    public void Delete(string key, long? expectedVersion = null) => WriteHead(key, 0, expectedVersion);

    /// <summary>Finishes the command; the caller owns the buffer.</summary>
    public CommandBuffer Complete()
    {
        CommandBuffer complete = Buffer;
        _buffer = null;
        BinaryPrimitives.WriteInt32LittleEndian(complete.WrittenSpan[CommandFormat.OperationCountOffset..], Count);
        return complete;
    }

    /// <summary>Gives the buffer back unless <see cref="Complete"/> passed it on.</summary>
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
