using System.Buffers.Binary;
using Rookery.Documents.Attachments;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Patching;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes a <see cref="CommandKind.Batch"/>, <see cref="CommandKind.BulkPut"/> or
/// <see cref="CommandKind.ClusterTransaction"/>: create the writer, add operations, complete.
/// </summary>
/// <remarks>
/// Ids must have passed <see cref="Ids.DocumentId"/>'s checks. An empty id becomes a GUID here, because apply must not
/// use randomness.
/// </remarks>
public sealed class BatchWriter : IDisposable
{
    private CommandBuffer? _buffer;
    private List<int>? _generatedIdOffsets;
    private List<int>? _contentOffsets; // of the attachments whose contents are not known yet

    /// <summary>Begins a command.</summary>
    /// <param name="kind">Batch, BulkPut or ClusterTransaction.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="skipUnchanged">Whether a put of an identical document keeps the stored version.</param>
    /// <param name="sizeHint">Expected length in bytes. Without it the buffer grows by doubling, which needs twice the
    /// memory.</param>
    public BatchWriter(
        CommandKind kind,
        uint database,
        IdempotencyKey key = default,
        bool skipUnchanged = false,
        int sizeHint = 1024
    )
    {
        Invariant.Holds(
            kind is CommandKind.Batch or CommandKind.BulkPut or CommandKind.ClusterTransaction,
            "only batches hold operations"
        );
        _buffer = CommandBuffer.Rent(sizeHint);
        CommandFormat.WriteHeader(_buffer, kind, database, operations: 0, key, skipUnchanged);
    }

    /// <summary>
    /// Cluster transactions: lets the command change documents without atomic guards (disableAtomicDocumentWrites).
    /// </summary>
    public void DisableGuards() => Buffer.WrittenSpan[CommandFormat.FlagsOffset] |= CommandFormat.HeaderWithoutGuards;

    /// <summary>Number of operations added.</summary>
    public int Count { get; private set; }

    /// <summary>Number of etags that patches reserve for other documents.</summary>
    public int ReservedEtags { get; private set; }

    /// <summary>Length of the command so far, in bytes.</summary>
    public int Length => Buffer.Length;

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(BatchWriter));

    /// <summary>Adds a put.</summary>
    /// <param name="id">The document's id; empty for a new GUID.</param>
    /// <param name="expected">The document's expected change vector.</param>
    /// <param name="document">The document.</param>
    /// <param name="forcesRevision">See <see cref="Operation.ForcesRevision"/>.</param>
    public void Put(
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        in ParsedDocument document,
        bool forcesRevision = false
    )
    {
        if (id.IsEmpty)
        {
            int offset = CommandFormat.WritePutWithoutId(Buffer, expected, document, forcesRevision);
            (_generatedIdOffsets ??= []).Add(offset);
        }
        else
        {
            CommandFormat.WritePut(Buffer, id, expected, document, forcesRevision);
        }

        Count++;
    }

    /// <summary>Adds the current version of a document in a dump.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="ticks">The time of its last change, in UTC ticks.</param>
    /// <param name="document">The document.</param>
    public void PutVersion(ReadOnlySpan<byte> id, long ticks, in ParsedDocument document)
    {
        var version = new VersionCommand { Kind = VersionKind.Document, Ticks = ticks };
        CommandFormat.WriteVersion(Buffer, id, version, document, isForced: false);
        Count++;
    }

    /// <summary>
    /// Adds a revision in a dump. Call <see cref="Restate"/> afterwards, once for all revisions of the id.
    /// </summary>
    /// <param name="id">The document's id.</param>
    /// <param name="kind">Revision or Deletion.</param>
    /// <param name="ticks">The time of the revision, in UTC ticks.</param>
    /// <param name="ordinal">The number of the id's revisions with this time that precede it.</param>
    /// <param name="document">The content.</param>
    /// <param name="parts">Its attachments, whose contents are durable and pinned, and its counters.</param>
    /// <param name="isForced">Whether a client forced its creation.</param>
    public void PutRevision(
        ReadOnlySpan<byte> id,
        VersionKind kind,
        long ticks,
        uint ordinal,
        in ParsedDocument document,
        VersionParts parts,
        bool isForced
    )
    {
        Invariant.Holds(kind is VersionKind.Revision or VersionKind.Deletion, "documents have another method");
        var version = new VersionCommand
        {
            Kind = kind,
            Ticks = ticks,
            Ordinal = ordinal,
            Attachments = parts.Attachments,
            CounterNames = parts.CounterNames,
            CounterValues = parts.CounterValues,
        };
        CommandFormat.WriteVersion(Buffer, id, version, document, isForced);
        if (!parts.Attachments.IsEmpty)
        {
            Buffer.WrittenSpan[CommandFormat.FlagsOffset] |= CommandFormat.HeaderNamesContents;
        }

        Count++;
    }

    /// <summary>Adds an operation that stores a document again as it is, under a new etag.</summary>
    /// <param name="id">The document's id. If it does not exist, nothing happens.</param>
    /// <param name="ticks">The time of its last change, in UTC ticks; 0 to keep it.</param>
    public void Restate(ReadOnlySpan<byte> id, long ticks)
    {
        var version = new VersionCommand { Kind = VersionKind.Restated, Ticks = ticks };
        CommandFormat.WriteVersion(Buffer, id, version, document: default, isForced: false);
        Count++;
    }

    /// <summary>Adds a delete.</summary>
    public void Delete(ReadOnlySpan<byte> id, ExpectedChangeVector expected)
    {
        CommandFormat.WriteOperation(Buffer, OperationKind.Delete, id, expected, flags: 0);
        Count++;
    }

    /// <summary>Adds an operation on the revisions of a document.</summary>
    public void Revision(ReadOnlySpan<byte> id, scoped in RevisionCommand command)
    {
        CommandFormat.WriteRevision(Buffer, id, command);
        Count++;
    }

    /// <summary>Adds a patch.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The document's expected change vector.</param>
    /// <param name="program">The encoded program.</param>
    /// <param name="returnsDocument">Whether the result must contain the whole document.</param>
    /// <param name="skipsOnMismatch">Whether a mismatch of the change vector skips the patch instead of refusing
    /// it.</param>
    public void Patch(
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        ReadOnlySpan<byte> program,
        bool returnsDocument,
        bool skipsOnMismatch
    )
    {
        byte flags = (byte)(
            (returnsDocument ? CommandFormat.ReturnsDocument : 0)
            | (skipsOnMismatch ? CommandFormat.SkipsOnMismatch : 0)
        );
        int reserved = new PatchProgram { Bytes = program }.ReservedEtags;
        if (reserved > 0)
        {
            ReservedEtags += reserved;
            Buffer.WrittenSpan[CommandFormat.FlagsOffset] |= CommandFormat.HeaderReservesEtags;
        }

        CommandFormat.WriteOperation(Buffer, OperationKind.Patch, id, expected, flags);
        Span<byte> span = Buffer.GetSpan(sizeof(int) + program.Length);
        BinaryPrimitives.WriteInt32LittleEndian(span, program.Length);
        program.CopyTo(span[sizeof(int)..]);
        Buffer.Advance(sizeof(int) + program.Length);
        Count++;
    }

    /// <summary>Adds a put of a compare-exchange value.</summary>
    /// <param name="key">The key: <see cref="Ids.CompareExchangeKey"/> accepts it.</param>
    /// <param name="index">The index that the value must have; 0 if it must not exist.</param>
    /// <param name="value">The value, an object with the member Object.</param>
    public void PutCompareExchange(ReadOnlySpan<byte> key, long index, in ParsedDocument value)
    {
        CommandFormat.WriteCompareExchangePut(Buffer, key, index, value);
        Count++;
    }

    /// <summary>Adds a delete of a compare-exchange value.</summary>
    /// <inheritdoc cref="PutCompareExchange"/>
    public void DeleteCompareExchange(ReadOnlySpan<byte> key, long index)
    {
        CommandFormat.WriteCompareExchangeDelete(Buffer, key, index);
        Count++;
    }

    /// <summary>Adds operations on counters of one document, which is rewritten at most once for all of them.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="counters">At least one operation.</param>
    internal void Counters(ReadOnlySpan<byte> id, CounterOperationList counters)
    {
        byte flags = CommandFormat.StartsGroup;
        int left = counters.Count;
        var operations = counters.Read();
        while (operations.MoveNext())
        {
            flags |= --left == 0 ? CommandFormat.EndsGroup : (byte)0;
            CommandFormat.WriteCounter(Buffer, operations.Kind, id, operations.Name, operations.Delta, flags);
            flags = 0;
            Count++;
        }
    }

    /// <summary>Adds a put of an attachment, whose content is durable and pinned.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The expected change vector of the attachment.</param>
    /// <param name="attachment">The attachment; its etag is ignored.</param>
    public void PutAttachment(
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        scoped in AttachmentEntry attachment
    )
    {
        CommandFormat.WriteAttachmentPut(Buffer, id, expected, attachment);
        Buffer.WrittenSpan[CommandFormat.FlagsOffset] |= CommandFormat.HeaderNamesContents;
        Count++;
    }

    /// <summary>
    /// Adds a put of an attachment whose content <see cref="SetContents"/> names before <see cref="Complete"/>.
    /// </summary>
    public void PutAttachment(
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        ReadOnlySpan<byte> name,
        ReadOnlySpan<byte> contentType
    )
    {
        PutAttachment(id, expected, new AttachmentEntry { Name = name, ContentType = contentType });
        (_contentOffsets ??= []).Add(Buffer.Length - CommandFormat.AttachmentContentBytes);
    }

    /// <summary>The command so far. Its number of operations is not set yet.</summary>
    public ReadOnlySpan<byte> Written => Buffer.Written.Span;

    /// <summary>Number of attachments that need a content.</summary>
    public int ContentCount => _contentOffsets?.Count ?? 0;

    /// <summary>Sets the contents of the attachments, in their order.</summary>
    /// <param name="contents">As many as <see cref="ContentCount"/>, durable and pinned.</param>
    public void SetContents(IReadOnlyList<PinnedContent> contents)
    {
        Invariant.Holds(contents.Count == ContentCount, "each attachment of the batch has one content");
        for (int i = 0; i < contents.Count; i++)
        {
            var span = Buffer.WrittenSpan[_contentOffsets![i]..];
            CommandFormat.WriteAttachmentContent(span, contents[i].Size, contents[i].Hash);
        }

        _contentOffsets = null;
    }

    /// <summary>Adds a delete of an attachment.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The expected change vector of the attachment.</param>
    /// <param name="name">The attachment's name.</param>
    public void DeleteAttachment(ReadOnlySpan<byte> id, ExpectedChangeVector expected, ReadOnlySpan<byte> name)
    {
        CommandFormat.WriteAttachmentDelete(Buffer, id, expected, name);
        Count++;
    }

    /// <summary>
    /// Adds a copy of an attachment, whose content is shared; or a move, which takes two operations if it is between
    /// documents.
    /// </summary>
    /// <param name="id">The id of the document that gets the copy.</param>
    /// <param name="name">The name of the copy.</param>
    /// <param name="source">The id of the document with the source.</param>
    /// <param name="sourceName">The name of the source.</param>
    /// <param name="expected">The expected change vector of the source.</param>
    /// <param name="moves">Whether to remove the source.</param>
    public void CopyAttachment(
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> name,
        ReadOnlySpan<byte> source,
        ReadOnlySpan<byte> sourceName,
        ExpectedChangeVector expected,
        bool moves
    )
    {
        bool renames = moves && DocumentId.AreEqual(id, source);
        CommandFormat.WriteOperation(Buffer, OperationKind.AttachmentCopy, id, expected, flags: 0);
        AttachmentCopyCommand.Write(Buffer, name, source, sourceName, moves, renames);
        Count++;
        if (moves && !renames)
        {
            // The copy compared the change vector, and nothing comes between the operations of a batch.
            DeleteAttachment(source, ExpectedChangeVector.None, sourceName);
        }
    }

    /// <summary>
    /// Finishes the command. The caller owns the returned buffer; this writer cannot be used afterwards.
    /// </summary>
    public CommandBuffer Complete()
    {
        Invariant.Holds(_contentOffsets is null, "each attachment of the batch has its content");
        CommandBuffer complete = Buffer;
        _buffer = null;
        BinaryPrimitives.WriteInt32LittleEndian(
            complete.WrittenSpan[CommandFormat.OperationCountOffset..],
            Count + ReservedEtags
        );
        RequestHash.Write(complete);
        foreach (int offset in _generatedIdOffsets ?? [])
        {
            // GUIDs are written after the hash, so a retry with another GUID is still the same request.
            GuidId.Create(complete.WrittenSpan[offset..]);
        }

        return complete;
    }

    /// <summary>Releases the buffer unless <see cref="Complete"/> returned it.</summary>
    public void Dispose()
    {
        _buffer?.Dispose();
        _buffer = null;
    }
}
