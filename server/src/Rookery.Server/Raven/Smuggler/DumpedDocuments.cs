using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>Stores the documents of a dump with their attachments, in chunks.</summary>
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
    private BatchWriter _chunk;
    private long _rewrittenBytes;
    private int _documents;
    private int _attachments;

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
        _replaced = new ReplacedNames(database);
        _chunk = Begin();
    }

    /// <summary>Adds a document; stores the chunk if it is full.</summary>
    /// <param name="element">The document's JSON.</param>
    /// <param name="options">What the import is to contain.</param>
    public async ValueTask AddAsync(ReadOnlyMemory<byte> element, SmugglerOptions options)
    {
        var attachments = new List<Listed>();
        if (!TryAdd(element, options, attachments, out string id))
        {
            return;
        }

        if (HiloDocument.IsId(Encoding.UTF8.GetBytes(id)))
        {
            await StoreAsync(); // at once, because the number was compared with the stored one
        }

        await StoreWhenFullAsync();
        int listBytes = 0;
        foreach (var attachment in attachments)
        {
            byte[] name = Encoding.UTF8.GetBytes(attachment.Name);
            byte[] contentType = Encoding.UTF8.GetBytes(attachment.ContentType);
            if (!AttachmentList.IsName(name) || !AttachmentList.IsContentType(contentType))
            {
                _operation.Attachments.Fail();
                _operation.Tell(
                    $"An attachment of {id} is not stored: a name has 1 to {AttachmentList.MaxNameBytes} bytes, this "
                        + $"one {name.Length}, and a content type up to {AttachmentList.MaxContentTypeBytes}, this one "
                        + $"{contentType.Length}."
                );
                continue;
            }

            if (_contents.Find(attachment.Hash) is not { } content)
            {
                _operation.Attachments.Fail();
                _operation.Tell($"The dump does not have the bytes of attachment '{attachment.Name}' of {id}.");
                continue;
            }

            var entry = new AttachmentEntry
            {
                Name = name,
                ContentType = contentType,
                Hash = content.Hash,
                Size = content.Size,
            };
            if (listBytes + AttachmentList.SizeOf(entry) > AttachmentList.MaxBytes)
            {
                // Otherwise the document is refused with its whole chunk, and so is the rest of the dump.
                _operation.Attachments.Fail();
                _operation.Tell(
                    $"Attachment '{attachment.Name}' of {id} is not stored: names, content types and hashes take more "
                        + $"than {AttachmentList.MaxBytes >> 10} KiB."
                );
                continue;
            }

            listBytes += AttachmentList.SizeOf(entry);
            _chunk.PutAttachment(Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, entry);
            _attachments++;
            _rewrittenBytes += element.Length + AttachmentList.MaxNameBytes;
            await StoreWhenFullAsync();
        }
    }

    /// <summary>Stores what was gathered, and waits until it is durable.</summary>
    /// <exception cref="RefusedException">It was refused.</exception>
    public async ValueTask StoreAsync()
    {
        if (_chunk.Count > 0)
        {
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
            (_documents, _attachments) = (0, 0);
            _operations.Announce(_operation);
        }

        _room.ReleaseChunks();
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        _chunk.Dispose();
        _reader.Dispose();
        return ValueTask.CompletedTask;
    }

    private bool TryAdd(ReadOnlyMemory<byte> element, SmugglerOptions options, List<Listed> attachments, out string id)
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
        var read = _reader.Read(out var document, out var error);
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
            _operation.Documents.Fail();
            _operation.Tell($"A document is not stored: {error}");
            return false;
        }

        id = Encoding.UTF8.GetString(document.MetadataId);
        if (
            options.Collections is { } collections
            && !collections.Contains(Encoding.UTF8.GetString(document.Collection))
        )
        {
            return false;
        }

        if (HiloDocument.IsId(document.MetadataId) && LowersHilo(id, document.MetadataId, element.Span))
        {
            return false;
        }

        if (document.NamesAttachments && options.Has("Attachments"))
        {
            ReadAttachments(element.Span, attachments); // before the put: it refuses a list of an unexpected form
        }

        _rewrittenBytes += _replaced.NameBytesOf(document.MetadataId);
        _chunk.Put(document.MetadataId, ExpectedChangeVector.None, document);
        _documents++;

        return true;
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

    private static void ReadAttachments(ReadOnlySpan<byte> document, List<Listed> attachments)
    {
        var json = new Utf8JsonReader(document, new JsonReaderOptions { MaxDepth = 130 });
        json.Read();
        JsonBody.ForEachMember(
            ref json,
            (string name, ref Utf8JsonReader value) =>
            {
                if (name is "@metadata" && value.TokenType == JsonTokenType.StartObject)
                {
                    JsonBody.ForEachMember(
                        ref value,
                        (string member, ref Utf8JsonReader list) =>
                        {
                            if (member is "@attachments" && list.TokenType == JsonTokenType.StartArray)
                            {
                                using var entries = JsonDocument.ParseValue(ref list);
                                attachments.AddRange(entries.RootElement.EnumerateArray().Select(Listed.Of));
                            }
                            else
                            {
                                list.Skip();
                            }
                        }
                    );
                }
                else
                {
                    value.Skip();
                }
            }
        );
    }

    private sealed record Listed(string Name, string ContentType, string Hash)
    {
        public static Listed Of(JsonElement entry) =>
            new(
                Text(entry, "Name") is { Length: > 0 } name ? name : throw new FormatException("no Name"),
                Text(entry, "ContentType"),
                Text(entry, "Hash")
            );

        private static string Text(JsonElement entry, string name) =>
            entry.TryGetProperty(name, out var value) ? value.GetString() ?? "" : "";
    }
}
