using System.Buffers;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>Stores the documents of a dump and their revisions, with their attachments and times, in chunks.</summary>
internal sealed class DumpedDocuments : IAsyncDisposable
{
    private const int ChunkBytes = 896 << 10;
    private const int ChunkOperations = 4096;
    private static readonly byte[] LineEnd = "\n"u8.ToArray();

    private readonly ServerContext _context;
    private readonly Database _database;
    private readonly SmugglerOperation _operation;
    private readonly OperationRegistry _operations;
    private readonly DumpedContents _contents;
    private readonly StreamedRoom _room;
    private readonly NdjsonReader _reader = new();
    private readonly ReplacedNames _replaced;
    private readonly VersionParts _parts = new();

    // Documents with revisions in the chunk, which are stored again at its end, by their lower-cased ids.
    private readonly Dictionary<string, byte[]> _revised = new(StringComparer.Ordinal);
    private readonly RevisionOrdinals _ordinals = new();
    private readonly bool _keepsVersions;
    private BatchWriter _chunk;
    private long _rewrittenBytes;
    private int _documents;
    private int _attachments;
    private int _revisions;

    public DumpedDocuments(
        ServerContext context,
        Database database,
        SmugglerOperation operation,
        OperationRegistry operations,
        DumpedContents contents,
        StreamedRoom room
    )
    {
        (_context, _database, _operation, _operations) = (context, database, operation, operations);
        (_contents, _room) = (contents, room);
        _keepsVersions = context.Node.FormatLevel.Level >= FormatLevel.Revisions;
        _replaced = new ReplacedNames(database);
        _chunk = Begin();
    }

    /// <summary>Adds a document; stores the chunk if it is full.</summary>
    /// <param name="element">The document's JSON.</param>
    /// <param name="options">What the import is to contain.</param>
    public async ValueTask AddAsync(ReadOnlyMemory<byte> element, SmugglerOptions options)
    {
        if (!TryAdd(element, options, out string id, out var metadata))
        {
            return;
        }

        if (HiloDocument.IsId(Encoding.UTF8.GetBytes(id)))
        {
            await StoreAsync(); // at once, because the number was compared with the stored one
        }

        await StoreWhenFullAsync();
        int listBytes = 0;
        bool hasAttachments = false;
        foreach (var attachment in options.Has("Attachments") ? metadata.Attachments : [])
        {
            if (FindContent(id, attachment) is not { } content || !Fits(id, attachment, content, ref listBytes))
            {
                continue;
            }

            if (Has(id, attachment, content))
            {
                _attachments++;
                continue; // otherwise a second import would make a further version of the document
            }

            _chunk.PutAttachment(Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, EntryOf(attachment, content));
            hasAttachments = true;
            _attachments++;
            _rewrittenBytes += element.Length + AttachmentList.MaxNameBytes;
            await StoreWhenFullAsync();
        }

        if (hasAttachments && _keepsVersions && metadata.Ticks != 0)
        {
            _chunk.Restate(Encoding.UTF8.GetBytes(id), metadata.Ticks); // each attachment changed the time
        }
    }

    /// <summary>Adds a revision; stores the chunk if it is full.</summary>
    /// <param name="element">The revision's JSON.</param>
    /// <param name="options">What the import is to contain.</param>
    public async ValueTask AddRevisionAsync(ReadOnlyMemory<byte> element, SmugglerOptions options)
    {
        if (!_keepsVersions)
        {
            _operation.LeaveOut("RevisionDocuments, until the upgrade is ended", count: 1);
            return;
        }

        if (TryAddRevision(element, options))
        {
            await StoreWhenFullAsync();
        }
    }

    /// <summary>Stores what was gathered, and waits until it is durable.</summary>
    /// <exception cref="RefusedException">It was refused.</exception>
    public async ValueTask StoreAsync()
    {
        if (_chunk.Count > 0)
        {
            foreach (byte[] id in _revised.Values)
            {
                _chunk.Restate(id, ticks: 0);
            }

            _revised.Clear();
            using var command = _chunk.Complete();
            _chunk.Dispose();
            _chunk = Begin();
            _rewrittenBytes = 0;
            var outcome = await ProposalRetry.ProposePatientlyAsync(
                _context.Node.Consensus,
                () => Copy(command),
                _context.Time,
                _operation.Killed
            );
            if (outcome.Rejection is { } rejection)
            {
                throw RavenErrors.Refuse(rejection);
            }

            _operation.Documents.Add(_documents);
            _operation.Attachments.Add(_attachments);
            // A list ends with its chunk, so a chunk with revisions has no documents.
            long skipped = _revisions > 0 ? outcome[0].High : 0;
            _operation.Revisions.Add(_revisions - skipped);
            _operation.Revisions.Skip(skipped);
            (_documents, _attachments, _revisions) = (0, 0, 0);
            _operations.Announce(_operation);
        }

        _room.ReleaseChunks();
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        _chunk.Dispose();
        _reader.Dispose();
        _parts.Dispose();
        return ValueTask.CompletedTask;
    }

    private bool Has(string id, DumpedAttachment attachment, PinnedContent content)
    {
        using var reader = _database.OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return false;
        }

        using (document)
        {
            var entry = EntryOf(attachment, content);
            return AttachmentList.TryFind(document.Head.Attachments, entry.Name, out var stored)
                && stored.Hash == entry.Hash
                && stored.Name.SequenceEqual(entry.Name)
                && stored.ContentType.SequenceEqual(entry.ContentType);
        }
    }

    // Returns the content of an attachment; null, and says why, if it cannot be stored.
    private PinnedContent? FindContent(string id, DumpedAttachment attachment)
    {
        int nameBytes = Encoding.UTF8.GetByteCount(attachment.Name);
        int typeBytes = Encoding.UTF8.GetByteCount(attachment.ContentType);
        if (nameBytes > AttachmentList.MaxNameBytes || typeBytes > AttachmentList.MaxContentTypeBytes)
        {
            _operation.Attachments.Fail();
            _operation.Tell(
                $"An attachment of {id} is not stored: a name has 1 to {AttachmentList.MaxNameBytes} bytes, this "
                    + $"one {nameBytes}, and a content type up to {AttachmentList.MaxContentTypeBytes}, this one "
                    + $"{typeBytes}."
            );
            return null;
        }

        if (_contents.Find(attachment.Hash) is { } content)
        {
            return content;
        }

        _operation.Attachments.Fail();
        _operation.Tell($"The dump does not have the bytes of attachment '{attachment.Name}' of {id}.");
        return null;
    }

    // Otherwise the document is refused with its whole chunk, and so is the rest of the dump.
    private bool Fits(string id, DumpedAttachment attachment, PinnedContent content, ref int listBytes)
    {
        int bytes = AttachmentList.SizeOf(EntryOf(attachment, content));
        if (listBytes + bytes > AttachmentList.MaxBytes)
        {
            RefuseLongList(id, attachment);
            return false;
        }

        listBytes += bytes;
        return true;
    }

    private void RefuseLongList(string id, DumpedAttachment attachment)
    {
        _operation.Attachments.Fail();
        _operation.Tell(
            $"Attachment '{attachment.Name}' of {id} is not stored: names, content types and hashes take more "
                + $"than {AttachmentList.MaxBytes >> 10} KiB."
        );
    }

    private static AttachmentEntry EntryOf(DumpedAttachment attachment, PinnedContent content) =>
        new()
        {
            Name = Encoding.UTF8.GetBytes(attachment.Name),
            ContentType = Encoding.UTF8.GetBytes(attachment.ContentType),
            Hash = content.Hash,
            Size = content.Size,
        };

    private bool TryAdd(
        ReadOnlyMemory<byte> element,
        SmugglerOptions options,
        out string id,
        out DumpedMetadata metadata
    )
    {
        metadata = new DumpedMetadata();
        if (!TryRead(element, options, _operation.Documents, out var document, out id))
        {
            return false;
        }

        if (HiloDocument.IsId(document.MetadataId) && LowersHilo(id, document.MetadataId, element.Span))
        {
            return false;
        }

        metadata = DumpedMetadata.Read(element.Span); // before the put: it refuses a list of an unexpected form
        _rewrittenBytes += _replaced.NameBytesOf(document.MetadataId);
        if (_keepsVersions && metadata.Ticks != 0)
        {
            _chunk.PutVersion(document.MetadataId, metadata.Ticks, document);
        }
        else
        {
            _chunk.Put(document.MetadataId, ExpectedChangeVector.None, document);
        }

        _documents++;
        return true;
    }

    private bool TryAddRevision(ReadOnlyMemory<byte> element, SmugglerOptions options)
    {
        if (!TryRead(element, options, _operation.Revisions, out var document, out string id))
        {
            return false;
        }

        var metadata = DumpedMetadata.Read(element.Span);
        if (metadata.Ticks == 0)
        {
            _operation.Revisions.Fail();
            _operation.Tell($"A revision of {id} is not stored: its @last-modified is not a time.");
            return false;
        }

        _parts.Clear();
        foreach (var attachment in options.Has("Attachments") ? metadata.Attachments : [])
        {
            if (FindContent(id, attachment) is not { } content)
            {
                continue;
            }

            if (!_parts.TryAdd(EntryOf(attachment, content)))
            {
                RefuseLongList(id, attachment);
            }
        }

        AddCounters(metadata);
        byte[] utf8Id = document.MetadataId.ToArray();
        string lowerId = LowerOf(utf8Id);
        if (_revised.TryAdd(lowerId, utf8Id))
        {
            // It is stored again twice if one of the revisions is its version.
            _rewrittenBytes += 2 * ReplacedNames.BytesOf(_database, utf8Id);
        }

        uint ordinal = _ordinals.Next(lowerId, metadata.Ticks);
        _rewrittenBytes += VersionCommand.BytesPerOrdinal * (long)ordinal;

        _chunk.PutRevision(
            document.MetadataId,
            metadata.IsDeletion ? VersionKind.Deletion : VersionKind.Revision,
            metadata.Ticks,
            ordinal,
            document,
            _parts,
            metadata.IsForced
        );
        _revisions++;
        return true;
    }

    private void AddCounters(DumpedMetadata metadata)
    {
        int bytes = 0;
        var counters = new List<(byte[] Name, long Value)>();
        foreach (var (text, value) in metadata.Counters)
        {
            byte[] name = Encoding.UTF8.GetBytes(text);
            bytes += (2 * name.Length) + 4;
            if (CounterName.TryValidate(name, out _) && bytes <= CounterName.MaxBytesPerDocument)
            {
                counters.Add((name, value));
            }
            else
            {
                _operation.LeaveOut("Counters of revisions", count: 1);
            }
        }

        _parts.AddCounters(counters);
    }

    private static string LowerOf(ReadOnlySpan<byte> id)
    {
        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        return Encoding.UTF8.GetString(lower[..DocumentId.ToLower(id, lower)]);
    }

    // Reads a document or a revision; false, and counts why, if it is not stored.
    private bool TryRead(
        ReadOnlyMemory<byte> element,
        SmugglerOptions options,
        SmugglerCount count,
        out ParsedDocument document,
        out string id
    )
    {
        id = "";
        // A line break can only be white space in JSON, and the reader takes documents by lines.
        if (element.Span.IndexOfAny((byte)'\n', (byte)'\r') >= 0)
        {
            byte[] line = element.ToArray();
            line.AsSpan().Replace((byte)'\n', (byte)' ');
            line.AsSpan().Replace((byte)'\r', (byte)' ');
            element = line;
        }

        _reader.Feed(element);
        var read = _reader.Read(out document, out var error);
        if (read == StreamRead.NeedMore)
        {
            _reader.Feed(LineEnd);
            read = _reader.Read(out document, out error);
        }

        if (read == StreamRead.Item && document.MetadataId.IsEmpty)
        {
            _operation.LeaveOut("Docs without an id", count: 1); // conflicts, and other entries of older builds
            return false;
        }

        if (read != StreamRead.Item || !DocumentId.TryValidate(document.MetadataId, out error))
        {
            count.Fail();
            _operation.Tell($"A document is not stored: {error}");
            return false;
        }

        id = Encoding.UTF8.GetString(document.MetadataId);
        return options.Collections is not { } collections
            || collections.Contains(Encoding.UTF8.GetString(document.Collection));
    }

    // The numbers up to the stored Max are given to clients, which store new documents under them without a change
    // vector: from a lower Max on, they would replace others. A range that a client takes between this reading and the
    // put can still be lost; only a command that raises Max and never lowers it could rule that out.
    private bool LowersHilo(string id, ReadOnlySpan<byte> utf8Id, ReadOnlySpan<byte> element)
    {
        using var reader = _database.OpenReader();
        if (!reader.TryGetDocument(utf8Id, out var stored))
        {
            return false;
        }

        using (stored)
        {
            long max = HiloDocument.MaxOf([(byte)'{', .. stored.View.Body, (byte)'}']);
            long dumped = HiloDocument.MaxOf(element);
            if (max <= dumped)
            {
                return false;
            }

            _operation.Tell(
                $"Document {id} is not stored: numbers up to {max} are in use here, and the Max of the dump is "
                    + $"{dumped}."
            );
            return true;
        }
    }

    private async ValueTask StoreWhenFullAsync()
    {
        if (
            _chunk.Count >= ChunkOperations
            || _chunk.Length >= ChunkBytes
            || _rewrittenBytes >= ReplacedNames.MaxBytesOfCommand
            || !_room.HasRoomForChunk(_chunk.Length, ChunkBytes)
        )
        {
            await StoreAsync();
        }
    }

    private BatchWriter Begin() =>
        new(
            CommandKind.BulkPut,
            _database.Number,
            _context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None
        );

    private static CommandBuffer Copy(CommandBuffer command)
    {
        var copy = CommandBuffer.Rent(command.Length);
        copy.Write(command.Written.Span);
        return copy;
    }
}
