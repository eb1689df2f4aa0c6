using Rookery.Documents.Json;

namespace Rookery.Documents.Commands;

/// <summary>Encodes <see cref="CommandKind.Batch"/> and <see cref="CommandKind.BulkPut"/>: begin, add operations, complete.</summary>
/// <remarks>Ids must have passed <see cref="Ids.DocumentId"/>'s checks. An empty id gets a GUID here, because randomness may not enter in apply.</remarks>
public sealed class BatchWriter : IDisposable
{
    /// <summary>Begins a command.</summary>
    /// <param name="kind">Batch or BulkPut.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="skipUnchanged">A put of an identical document keeps the old version.</param>
    public BatchWriter(CommandKind kind, uint database, IdempotencyKey key = default, bool skipUnchanged = false) => throw new NotSupportedException();

    /// <summary>Operations so far.</summary>
    public int Count { get; }

    /// <summary>Bytes so far.</summary>
    public int Length => throw new NotSupportedException();

    /// <summary>Adds a put.</summary>
    public void Put(ReadOnlySpan<byte> id, ExpectedChangeVector expected, in ParsedDocument document) => throw new NotSupportedException();

    /// <summary>Adds a delete.</summary>
    public void Delete(ReadOnlySpan<byte> id, ExpectedChangeVector expected) => throw new NotSupportedException();

    /// <summary>Finishes the command; the caller owns the buffer, and this writer is done.</summary>
    public CommandBuffer Complete() => throw new NotSupportedException();

    /// <summary>Gives the buffer back unless <see cref="Complete"/> passed it on.</summary>
    public void Dispose() => throw new NotSupportedException();
}
