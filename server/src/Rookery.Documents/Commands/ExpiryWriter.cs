using System.Buffers.Binary;

namespace Rookery.Documents.Commands;

/// <summary>Encodes <see cref="CommandKind.ExpireDocuments"/>.</summary>
public sealed class ExpiryWriter : IDisposable
{
    private CommandBuffer? _buffer = CommandBuffer.Rent();

    /// <summary>Begins a command.</summary>
    /// <param name="database">The database's number.</param>
    public ExpiryWriter(uint database) =>
        CommandFormat.WriteHeader(Buffer, CommandKind.ExpireDocuments, database, 0, default);

    /// <summary>Documents so far.</summary>
    public int Count { get; private set; }

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(ExpiryWriter));

    /// <summary>Adds a document that ends now.</summary>
    /// <param name="lowerId">Its lower-cased id.</param>
    /// <param name="etag">The version that ends; another version stays.</param>
    public void Add(ReadOnlySpan<byte> lowerId, long etag)
    {
        Span<byte> span = Buffer.GetSpan(10 + lowerId.Length);
        BinaryPrimitives.WriteInt64LittleEndian(span, etag);
        Buffer.Advance(CommandFormat.WriteShort(span, 8, lowerId));
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

    /// <summary>Gives the buffer back unless <see cref="Complete"/> passed it on.</summary>
    public void Dispose()
    {
        _buffer?.Dispose();
        _buffer = null;
    }
}
