using System.IO.Pipelines;
using System.Net.Http.Headers;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Raven.Attachments;

namespace Rookery.Server.Raven.Batches;

/// <summary>
/// A batch with attachments, as RavenDB's clients send it: multipart/form-data, first the JSON of the commands (main),
/// then the files in the order of the commands AttachmentPUT. The commands are read and checked before the first file,
/// so a refused batch costs no upload. Files go to the disk while they arrive.
/// </summary>
internal sealed class MultipartBatch : IDisposable
{
    private const int MaxBoundaryLength = 70; // RFC 2046, section 5.1.1
    private const int BufferBytes = 16 << 10;

    // Each file is pinned, with its hash, until the batch is applied.
    private const int MaxFiles = 1024;

    // While large commands hold memory, the files must arrive as fast as the largest body must: 56 KB/s.
    private const long BytesPerDeadline = 32L << 20;

    private readonly List<PinnedContent> _contents = [];
    private BatchWriter? _writer;

    private MultipartBatch() { }

    /// <summary>Returns whether a request has such a body.</summary>
    public static bool IsSentBy(HttpContext http) =>
        http.Request.ContentType?.StartsWith("multipart/", StringComparison.OrdinalIgnoreCase) == true;

    /// <summary>Receives the body.</summary>
    /// <param name="http">The request.</param>
    /// <param name="context">The node.</param>
    /// <param name="database">The database.</param>
    /// <param name="lease">Grows to the memory of the commands, if they are large.</param>
    /// <param name="parse">Parses the commands.</param>
    /// <exception cref="RefusedException">The body is malformed (400), a part is too large (413), or a file was not
    /// accepted: see <see cref="ReceivedContents"/>.</exception>
    public static async Task<MultipartBatch> ReceiveAsync(
        HttpContext http,
        ServerContext context,
        Database database,
        LargeRequests.Lease lease,
        CommandParser parse
    )
    {
        long written = 0;
        var received = new ReceivedContents(context)
        {
            PieceWritten = bytes =>
            {
                // Large commands stay in memory while the files arrive, as long as these come fast enough.
                if (written / BytesPerDeadline != (written += bytes) / BytesPerDeadline)
                {
                    lease.Renew();
                }
            },
        };
        var contents = received.RequireSupport();
        string boundary = ReadBoundary(http);
        ReceivedContents.Allow(http);
        var batch = new MultipartBatch();
        var body = http.Request.BodyReader;
        lease.Reading = body;
        try
        {
            await using var interrupt = context.Stopping.UnsafeRegister(
                static body => ((PipeReader)body!).CancelPendingRead(),
                body
            );
            using var parts = new MultipartParts(boundary, http.Request.Body);
            batch._writer = await ReadCommandsAsync(parts, context.Options.BatchBytesLimit, lease, parse);
            await RefuseBeforeFilesAsync(context, batch._writer, database);
            lease.Shrink(batch._writer.Length);
            if (lease.Bytes <= LargeRequests.BytesWithoutLease)
            {
                lease.ReleaseAll(); // so the files have no deadline
            }

            await batch.ReadFilesAsync(parts, received, contents, database);
            lease.Reading = null;
            return batch;
        }
        catch (Exception failure)
        {
            batch.Dispose();
            throw Explain(failure, http, context) ?? failure;
        }
    }

    /// <summary>Returns the command, which names the files. Call it once.</summary>
    public ParsedBatch Complete()
    {
        _writer!.SetContents(_contents);
        int count = _writer.Count;
        return new ParsedBatch(_writer.Complete(), count);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _writer?.Dispose();
        foreach (var content in _contents)
        {
            content.Dispose();
        }

        _contents.Clear();
    }

    private static RefusedException? Explain(Exception failure, HttpContext http, ServerContext context) =>
        failure switch
        {
            OperationCanceledException when context.Stopping.IsCancellationRequested => RefusedException.NodeStops(),
            OperationCanceledException when !http.RequestAborted.IsCancellationRequested => LargeRequests.TooSlow(http),
            BadHttpRequestException => null,
            _ when RavenErrors.AsOwnFailure(failure) is { } own => own,
            InvalidDataException or IOException => RefusedException.BadRequest(
                $"The multipart body is malformed or cut off: {failure.Message} Nothing was stored; send it whole."
            ),
            _ => null,
        };

    /// <summary>Returns the boundary between the parts of a request's body.</summary>
    /// <exception cref="RefusedException">The Content-Type has none: 400.</exception>
    internal static string ReadBoundary(HttpContext http)
    {
        string? boundary = MediaTypeHeaderValue.TryParse(http.Request.ContentType, out var type)
            ? type.Parameters.FirstOrDefault(IsBoundary)?.Value?.Trim('"')
            : null;
        return boundary is { Length: > 0 and <= MaxBoundaryLength }
            ? boundary
            : throw RefusedException.BadRequest(
                $"The Content-Type of a body with files must be multipart/form-data with a boundary of 1 to "
                    + $"{MaxBoundaryLength} characters."
            );
    }

    private static bool IsBoundary(NameValueHeaderValue parameter) =>
        string.Equals(parameter.Name, "boundary", StringComparison.OrdinalIgnoreCase);

    private static async Task<BatchWriter> ReadCommandsAsync(
        MultipartParts parts,
        int maxBytes,
        LargeRequests.Lease lease,
        CommandParser parse
    )
    {
        var main =
            await parts.ReadNextAsync()
            ?? throw RefusedException.BadRequest("The multipart body has no part with the commands.");
        var commands = new PooledBytes();
        byte[] buffer = System.Buffers.ArrayPool<byte>.Shared.Rent(BufferBytes);
        try
        {
            int read;
            while ((read = await main.Body.ReadAsync(buffer)) > 0)
            {
                int length = commands.Length + read;
                if (length > maxBytes)
                {
                    throw new RefusedException(
                        StatusCodes.Status413PayloadTooLarge,
                        RavenType.BadRequest,
                        $"The commands of the batch exceed {Amount.Bytes(maxBytes)}; nothing was stored. Send several "
                            + "batches."
                    );
                }

                if ((long)length * LargeRequests.CopiesOfWrite > Math.Max(LargeRequests.BytesWithoutLease, lease.Bytes))
                {
                    await lease.GrowAsync(Math.Min(maxBytes, 2L * length) * LargeRequests.CopiesOfWrite);
                }

                commands.Append(buffer.AsSpan(0, read));
            }

            return parse(commands.Written);
        }
        finally
        {
            System.Buffers.ArrayPool<byte>.Shared.Return(buffer);
            commands.Release();
        }
    }

    private static async Task RefuseBeforeFilesAsync(ServerContext context, BatchWriter writer, Database database)
    {
        if (writer.ContentCount > MaxFiles)
        {
            throw new RefusedException(
                StatusCodes.Status413PayloadTooLarge,
                RavenType.BadRequest,
                $"The batch has {writer.ContentCount} commands AttachmentPUT, and at most {MaxFiles} are accepted. "
                    + "Nothing was stored; send several batches."
            );
        }

        // A lagging member may not have applied the put of the document yet.
        if (
            writer.ContentCount > 0
            && MissingDocument.Find(database, writer.Written) is not null
            && await context.Node.Consensus.ReadBarrierAsync()
            && MissingDocument.Find(database, writer.Written) is { } missing
        )
        {
            throw MissingDocument.Refuse(missing);
        }
    }

    private async Task ReadFilesAsync(
        MultipartParts parts,
        ReceivedContents received,
        AttachmentContents contents,
        Database database
    )
    {
        int expected = _writer!.ContentCount;
        while (await parts.ReadNextAsync() is { } part)
        {
            if (_contents.Count == expected)
            {
                throw RefusedException.BadRequest(
                    $"The batch has {Amount.Of(expected, "command")} AttachmentPUT, and more files. Nothing was "
                        + "stored; send one part for each AttachmentPUT, in order, after the commands."
                );
            }

            var body = PipeReader.Create(part.Body, new StreamPipeReaderOptions(bufferSize: BufferBytes));
            try
            {
                _contents.Add(await received.ReceiveAsync(contents, database, expectedBytes: 0, body));
            }
            finally
            {
                await body.CompleteAsync();
            }
        }

        if (_contents.Count < expected)
        {
            throw RefusedException.BadRequest(
                $"The batch has {Amount.Of(expected, "command")} AttachmentPUT, and "
                    + $"{Amount.Of(_contents.Count, "file")}. Nothing was stored; send one part for each "
                    + "AttachmentPUT, in order, after the commands."
            );
        }
    }
}

/// <summary>Parses the commands of a batch, after which its files follow.</summary>
/// <param name="commands">The JSON.</param>
/// <exception cref="RefusedException">The commands are refused.</exception>
internal delegate BatchWriter CommandParser(ReadOnlySpan<byte> commands);
