using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Consensus;
using Rookery.Documents.Indexes;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes a <see cref="CommandKind.ChangeIndexes"/>: defines, deletes and configures indexes, all or none.
/// <see cref="OperationResult.Low"/> of each result is the number of the index definition.
/// <see cref="OperationStatus.NotModified"/> means that nothing changed, <see cref="OperationStatus.NotFound"/> that
/// there is no such index.
/// </summary>
/// <remarks>
/// An index: <c>[kind u8][changed settings u8: 1 lock, 2 priority, 4 state][lock u8][priority u8][disabled
/// u8][lower-cased name]</c>, for a definition also <c>[name][definition]</c>. A varint length precedes each text.
/// </remarks>
public sealed class IndexWriter : IDisposable
{
    internal const byte ChangesLockMode = 1;
    internal const byte ChangesPriority = 2;
    internal const byte ChangesState = 4;
    internal const int HeadBytes = 5;

    private CommandBuffer? _buffer = CommandBuffer.Rent();

    /// <summary>Begins a command.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    public IndexWriter(uint database, IdempotencyKey key) =>
        CommandFormat.WriteHeader(Buffer, CommandKind.ChangeIndexes, database, operations: 0, key);

    /// <summary>Number of indexes added.</summary>
    public int Count { get; private set; }

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(IndexWriter));

    /// <summary>
    /// Defines an index. An identical stored definition stays as it is; a different one of the same name is replaced.
    /// </summary>
    /// <param name="name">A valid name: <see cref="IndexRecord.NameProblem"/> returns null for it.</param>
    /// <param name="definition">At most <see cref="IndexRecord.MaxDefinitionBytes"/> bytes. Definitions are compared
    /// byte for byte.</param>
    /// <param name="settings">The settings to change. A null setting keeps its value; in a new index it has its
    /// default.</param>
    public void Put(string name, ReadOnlySpan<byte> definition, IndexSettingsChange settings)
    {
        Invariant.Holds(
            definition.Length <= IndexRecord.MaxDefinitionBytes,
            "definitions of indexes are checked before they are encoded"
        );
        WriteHead(IndexCommandKind.Put, name, settings);
        WriteBytes(Encoding.UTF8.GetBytes(name));
        WriteBytes(definition);
    }

    /// <summary>Deletes an index. A missing index is no error.</summary>
    public void Delete(string name) => WriteHead(IndexCommandKind.Delete, name, settings: default);

    /// <summary>Changes the settings of an index.</summary>
    public void Configure(string name, IndexSettingsChange settings) =>
        WriteHead(IndexCommandKind.Configure, name, settings);

    /// <summary>Finishes the command; the caller owns the buffer.</summary>
    public CommandBuffer Complete()
    {
        CommandBuffer complete = Buffer;
        _buffer = null;
        BinaryPrimitives.WriteInt32LittleEndian(complete.WrittenSpan[CommandFormat.OperationCountOffset..], Count);
        RequestHash.Write(complete);
        return complete;
    }

    /// <summary>Releases the buffer unless <see cref="Complete"/> returned it.</summary>
    public void Dispose()
    {
        _buffer?.Dispose();
        _buffer = null;
    }

    private void WriteHead(IndexCommandKind kind, string name, IndexSettingsChange settings)
    {
        Invariant.Holds(IndexRecord.NameProblem(name) is null, "names of indexes are checked before they are encoded");
        Span<byte> head = Buffer.GetSpan(HeadBytes);
        head[0] = (byte)kind;
        head[1] = (byte)(
            (settings.LockMode is null ? 0 : ChangesLockMode)
            | (settings.Priority is null ? 0 : ChangesPriority)
            | (settings.IsDisabled is null ? 0 : ChangesState)
        );
        head[2] = (byte)settings.LockMode.GetValueOrDefault();
        head[3] = (byte)settings.Priority.GetValueOrDefault();
        head[4] = settings.IsDisabled == true ? (byte)1 : (byte)0;
        Buffer.Advance(HeadBytes);
        WriteBytes(IndexRecord.LowerBytes(name));
        Count++;
    }

    private void WriteBytes(ReadOnlySpan<byte> bytes) =>
        Buffer.Advance(Varint.WriteBytes(Buffer.GetSpan(Varint.MaxBytes32 + bytes.Length), bytes));
}
