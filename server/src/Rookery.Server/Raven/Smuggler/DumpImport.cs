using System.IO.Pipelines;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.WebUtilities;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Platform.Compression;
using Rookery.Server.Access;
using Rookery.Server.Raven.Attachments;
using Rookery.Server.Raven.Batches;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Reads a dump of RavenDB from the body of a request, and stores what it has: documents, attachments, counters,
/// revisions, compare-exchange values, identities, static indexes, subscriptions and configurations. All other parts
/// are counted and named in the result. What is stored stays if the import ends early, and a repeated import overwrites
/// it.
/// </summary>
internal sealed class DumpImport : IAsyncDisposable
{
    private const int OptionsBytes = 64 << 10;

    // A chunk of documents holds room for a limited time, and a long content may take longer.
    private const int LongContentBytes = 256 << 10;

    private readonly ServerContext _context;
    private readonly HttpContext _http;
    private readonly Database _database;
    private readonly SmugglerOperation _operation;
    private readonly StreamedRoom _room;
    private readonly DumpedDocuments _documents;
    private readonly DumpedContents _contents;
    private readonly DumpedValues _values;
    private readonly DumpedRecord _record;
    private readonly FeedAccess _access;
    private SmugglerOptions _options = SmugglerOptions.Read([]);

    public DumpImport(
        ServerContext context,
        HttpContext http,
        Database database,
        SmugglerOperation operation,
        OperationRegistry operations
    )
    {
        (_context, _http, _database, _operation) = (context, http, database, operation);
        _room = new StreamedRoom(http, http.Request.BodyReader, context.LargeRequests);
        _contents = new DumpedContents(context, database, operation);
        _documents = new DumpedDocuments(context, database, operation, operations, _contents, _room);
        _values = new DumpedValues(context, http, database, operation);
        _record = new DumpedRecord(context, http, database, operation);
        _access = new FeedAccess(context, http);
    }

    /// <summary>Reads and stores the dump.</summary>
    /// <exception cref="RefusedException">The dump is malformed (400), something in it was not accepted, or the
    /// credential of its sender has ended (403).</exception>
    public async Task RunAsync()
    {
        ReceivedContents.Allow(_http);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(_operation.Killed, _context.Stopping);
        await using var interrupt = stop.Token.UnsafeRegister(
            static body => ((PipeReader)body!).CancelPendingRead(),
            _http.Request.BodyReader
        );
        if (!MultipartBatch.IsSentBy(_http))
        {
            await ReadFileAsync(_http.Request.Body);
            return;
        }

        using var parts = new MultipartParts(MultipartBatch.ReadBoundary(_http), _http.Request.Body);
        bool isRead = false;
        while (await parts.ReadNextAsync() is { } part)
        {
            if (IsOptions(part))
            {
                if (isRead)
                {
                    throw RefusedException.BadRequest(
                        "The importOptions come after the file, which is stored without regard to them. Send them "
                            + "before the file."
                    );
                }

                _options = await ReadOptionsAsync(part.Body);
                continue;
            }

            await ReadFileAsync(part.Body);
            isRead = true;
        }

        if (!isRead)
        {
            throw RefusedException.BadRequest("The multipart body has no part with a dump.");
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _documents.DisposeAsync();
        _contents.Dispose();
        _room.Dispose();
    }

    private static bool IsOptions(MultipartSection part) =>
        part.ContentDisposition?.Contains("importOptions", StringComparison.OrdinalIgnoreCase) == true;

    private static async Task<SmugglerOptions> ReadOptionsAsync(Stream body)
    {
        byte[] buffer = new byte[OptionsBytes];
        int length = await body.ReadAtLeastAsync(buffer, OptionsBytes, throwOnEndOfStream: false);
        return length < OptionsBytes
            ? SmugglerOptions.Read(buffer.AsSpan(0, length))
            : throw RefusedException.BadRequest(
                $"The importOptions must be shorter than {Amount.Bytes(OptionsBytes)}."
            );
    }

    private async Task ReadFileAsync(Stream file)
    {
        try
        {
            await ReadSectionsAsync(file);
        }
        catch (RefusedException)
        {
            await _documents.StoreAsync(); // its message says that what came before is stored
            throw;
        }
        catch (Exception failure)
            when (failure is OperationCanceledException or IOException or InvalidDataException
                && RavenErrors.AsOwnFailure(failure) is null
                && !_operation.Killed.IsCancellationRequested
                && !_context.Stopping.IsCancellationRequested
            )
        {
            // The connection broke. What arrived whole is stored, and the state of the operation tells how much.
            await _documents.StoreAsync();
            throw;
        }
    }

    private async Task ReadSectionsAsync(Stream file)
    {
        await using var bytes = await StartedStream.OpenAsync(file);
        using var dump = new DumpReader(bytes, ReserveAsync);
        await dump.TakeAsync('{');
        if (await dump.PeekAsync() == '}')
        {
            await dump.TakeAsync('}');
        }
        else
        {
            do
            {
                string section = await dump.TakeNameAsync();
                await dump.TakeAsync(':');
                await ReadSectionAsync(dump, section);
            } while (await dump.TakeCommaOrAsync('}'));
        }

        await dump.RequireEndAsync();
        await _documents.StoreAsync();
        _access.RequireForBody();
        await _record.StoreAsync();
    }

    private ValueTask ReserveAsync(int length) =>
        _room.FitDocumentAsync(length, _documents.StoreAsync, _operation.Killed);

    private async Task ReadSectionAsync(DumpReader dump, string section)
    {
        if (await dump.PeekAsync() != '[')
        {
            var value = await dump.TakeValueAsync();
            if (section is "DatabaseRecord")
            {
                ReadRecord(dump, value);
                return;
            }

            if (section is "Docs" or "RevisionDocuments" || DumpedValues.TypeOf(section) is not null)
            {
                throw dump.Malformed($"{section} is not a list");
            }

            if (section is not "BuildVersion")
            {
                _operation.LeaveOut(section, count: 1);
            }

            return;
        }

        await dump.TakeAsync('[');
        if (await dump.PeekAsync() == ']')
        {
            await dump.TakeAsync(']');
            return;
        }

        // What is compared with the stored data below must not be older than the import, nor than its last section.
        if (!await _context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(_context));
        }

        do
        {
            _operation.Killed.ThrowIfCancellationRequested();
            await ReadElementAsync(dump, section);
        } while (await dump.TakeCommaOrAsync(']'));

        await _documents.StoreAsync(); // counters need their documents
    }

    private void ReadRecord(DumpReader dump, ReadOnlyMemory<byte> value)
    {
        if (!_options.Has("DatabaseRecord"))
        {
            return;
        }

        try
        {
            _record.Read(value, _options);
            _operation.DatabaseRecord.Add();
        }
        catch (Exception malformed) when (malformed is JsonException or InvalidOperationException or FormatException)
        {
            throw dump.Malformed("DatabaseRecord has an unexpected form");
        }
    }

    private async Task ReadElementAsync(DumpReader dump, string section)
    {
        var element = await dump.TakeValueAsync();
        _access.RequireForBody();
        try
        {
            if (RawBytes.After(element.Span) is { } raw)
            {
                await ReadRawAsync(dump, section, raw);
            }
            else if (section is "Docs" or "Results")
            {
                await ReadDocumentAsync(element);
            }
            else if (section is "RevisionDocuments")
            {
                if (_options.Has("RevisionDocuments"))
                {
                    await _documents.AddRevisionAsync(element, _options);
                }
            }
            else if (DumpedValues.TypeOf(section) is not { } type)
            {
                _operation.LeaveOut(section, count: 1);
            }
            else if (_options.Has(type))
            {
                using var json = JsonDocument.Parse(element, new JsonDocumentOptions { MaxDepth = 128 });
                await _values.StoreAsync(section, json.RootElement, _options);
            }
        }
        catch (Exception malformed)
            when (malformed is JsonException or InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw dump.Malformed($"an element of {section} has an unexpected form");
        }

        await _room.FitDocumentAsync(0, _documents.StoreAsync, _operation.Killed);
    }

    private async Task ReadDocumentAsync(ReadOnlyMemory<byte> element)
    {
        if (_options.Has("Documents"))
        {
            await _documents.AddAsync(element, _options);
        }
    }

    private async Task ReadRawAsync(DumpReader dump, string section, RawBytes raw)
    {
        if (raw.Hash is not { } hash || section is not ("Docs" or "Results" or "RevisionDocuments"))
        {
            _operation.LeaveOut(raw.Hash is null ? "TimeSeries" : $"Attachments of {section}", count: 1);
            await dump.TakeRawAsync(raw.Size, static _ => ValueTask.CompletedTask);
        }
        else if (!_options.Has("Attachments"))
        {
            await dump.TakeRawAsync(raw.Size, static _ => ValueTask.CompletedTask);
        }
        else
        {
            if (raw.Size > LongContentBytes)
            {
                await _documents.StoreAsync();
            }

            await _contents.ReceiveAsync(dump, hash, raw.Size);
        }
    }
}

/// <summary>The raw bytes that follow an element of a dump.</summary>
/// <param name="Hash">The hash of an attachment's content, in base64; null for a segment of a time series.</param>
/// <param name="Size">Their number.</param>
internal readonly record struct RawBytes(string? Hash, long Size)
{
    /// <summary>Returns the raw bytes that follow an element; null for none.</summary>
    public static RawBytes? After(ReadOnlySpan<byte> element)
    {
        // Most elements are documents, which have neither word.
        if (element.IndexOf("@export-type"u8) < 0 && element.IndexOf("@raven-blob-size"u8) < 0)
        {
            return null;
        }

        using var json = JsonDocument.Parse(element.ToArray(), new JsonDocumentOptions { MaxDepth = 128 });
        if (json.RootElement.ValueKind != JsonValueKind.Object)
        {
            return null;
        }

        bool hasMetadata =
            json.RootElement.TryGetProperty("@metadata"u8, out var metadata)
            && metadata.ValueKind == JsonValueKind.Object;
        if (hasMetadata && metadata.TryGetProperty("@id"u8, out _))
        {
            return null; // a document, which may have any members
        }

        if (json.RootElement.TryGetProperty("@raven-blob-size"u8, out var segment))
        {
            return new RawBytes(Hash: null, Positive(segment.GetInt64()));
        }

        return
            hasMetadata && metadata.TryGetProperty("@export-type"u8, out var type) && type.ValueEquals("Attachment"u8)
            ? new RawBytes(
                json.RootElement.GetProperty("Hash"u8).GetString(),
                Positive(json.RootElement.GetProperty("Size"u8).GetInt64())
            )
            : null;
    }

    private static long Positive(long size) =>
        size >= 0 ? size : throw new FormatException("The number of raw bytes is negative.");
}

/// <summary>A dump, decompressed if it is compressed.</summary>
internal sealed class StartedStream : ReadOnlyStream
{
    private readonly byte[] _start;
    private readonly Stream _rest;
    private int _taken;

    private StartedStream(byte[] start, Stream rest) => (_start, _rest) = (start, rest);

    /// <summary>Opens a dump, which its first bytes show to be compressed or not.</summary>
    /// <exception cref="RefusedException">It has another compression than gzip: 415.</exception>
    public static async Task<Stream> OpenAsync(Stream file)
    {
        byte[] start = new byte[4];
        int length = await file.ReadAtLeastAsync(start, start.Length, throwOnEndOfStream: false);
        var bytes = new StartedStream(start[..length], file);
        if (start is [0x28, 0xB5, 0x2F, 0xFD])
        {
            throw new RefusedException(
                StatusCodes.Status415UnsupportedMediaType,
                RavenType.NotSupported,
                "The dump is compressed with zstd, which this version does not read. Decompress it (`zstd -d`), or "
                    + "export it with gzip."
            );
        }

        return start is [0x1F, 0x8B, ..] ? new GzipInputStream(bytes) : bytes;
    }

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_taken == _start.Length)
        {
            return await _rest.ReadAsync(buffer, cancellationToken);
        }

        int count = Math.Min(buffer.Length, _start.Length - _taken);
        _start.AsMemory(_taken, count).CopyTo(buffer);
        _taken += count;
        return count;
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
