using System.Buffers.Binary;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes <see cref="CommandKind.ExpireDocuments"/> or <see cref="CommandKind.ExpireCompareExchange"/>: for each
/// document or value <c>[etag i64][lower-cased id or key u16+bytes]</c>.
/// </summary>
public sealed class ExpiryWriter : IDisposable
{
    private CommandBuffer? _buffer = CommandBuffer.Rent();

    /// <summary>Begins a command.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="kind">ExpireDocuments or ExpireCompareExchange.</param>
    public ExpiryWriter(uint database, CommandKind kind = CommandKind.ExpireDocuments) =>
        CommandFormat.WriteHeader(Buffer, kind, database, operations: 0, key: default);

    /// <summary>Number of documents or values added.</summary>
    public int Count { get; private set; }

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(ExpiryWriter));

    /// <summary>Adds an expired document or value.</summary>
    /// <param name="lowerId">The lower-cased id or key.</param>
    /// <param name="etag">Etag of the expired version; any other version is kept.</param>
    public void Add(ReadOnlySpan<byte> lowerId, long etag)
    {
        Span<byte> span = Buffer.GetSpan(sizeof(long) + sizeof(ushort) + lowerId.Length);
        BinaryPrimitives.WriteInt64LittleEndian(span, etag);
        Buffer.Advance(CommandFormat.WriteShort(span, at: sizeof(long), lowerId));
        Count++;
    }

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
}
