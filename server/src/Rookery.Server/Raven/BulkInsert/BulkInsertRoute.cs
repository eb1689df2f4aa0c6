using System.IO.Compression;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Documents.Json;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>
/// POST bulk_insert: one endless array of documents. Chunks are parsed while the one before is being made durable; a client that is faster than the disk is held
/// back by its own connection. The answer comes at the closing bracket, because RavenDB's clients never end the request.
/// </summary>
internal sealed class BulkInsertRoute(ServerContext context, OperationRegistry operations)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        IdempotencyHeader.Refuse(http, "bulk_insert", "it is stored in parts, and a repetition overwrites each document by its id");
        var parameters = new QueryParameters(http);
        bool skipUnchanged = parameters.Flag("skipOverwriteIfUnchanged");
        var operation = operations.Begin(parameters.Number("id", 0));
        try
        {
            await StoreAllAsync(http, database, operation, skipUnchanged);
            operation.Complete();
            await Empty.Status(http, StatusCodes.Status201Created);
        }
        catch (RefusedException refused)
        {
            operation.Fail(refused);
            await FailAsync(http, operation, refused);
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
            http.Abort();
        }
        catch (Exception left) when (left is OperationCanceledException or IOException or InvalidDataException or BadHttpRequestException)
        {
            operation.Fail(RefusedException.BadRequest($"The stream broke off after {operation.Total} documents, which are stored: {left.Message}"));
            await FailAsync(http, operation, operation.Failure!);
        }
        finally
        {
            if (operation.Stage == OperationStage.InProgress)
            {
                operation.Fail(new RefusedException(StatusCodes.Status500InternalServerError, RavenType.RavenException, "The node could not go on because of a fault of its own; its log has the details."));
            }

            operations.Announce(operation);
        }
    }

    // The client looks for a reason in operations/state only when its request failed; the body is not read to its end, so the connection closes.
    private static Task FailAsync(HttpContext http, BulkOperation operation, RefusedException refused)
    {
        http.Response.Headers.Connection = "close";
        return ErrorAnswer.WriteAsync(
            http, StatusCodes.Status500InternalServerError, refused.Type, $"Bulk insert {operation.Id} stopped after {operation.Total} documents, which are stored: {refused.Message}");
    }

    private async Task StoreAllAsync(HttpContext http, Database database, BulkOperation operation, bool skipUnchanged)
    {
        if (!IsCompressed(http))
        {
            await StoreAllAsync(http, http.Request.BodyReader, database, operation, skipUnchanged);
            return;
        }

        var body = PipeReader.Create(new GZipStream(http.Request.Body, CompressionMode.Decompress));
        await StoreAllAsync(http, body, database, operation, skipUnchanged);

        // Gives pages and decompressor back. Not after a failure: a read may still be going on into those pages.
        await body.CompleteAsync();
    }

    private static bool IsCompressed(HttpContext http) => http.Request.Headers.ContentEncoding.ToString().ToLowerInvariant() switch
    {
        "" or "identity" => false,
        "gzip" => true,
        var other => throw new RefusedException(
            StatusCodes.Status415UnsupportedMediaType, RavenType.NotSupported, $"Content-Encoding '{other}' of bulk_insert is not supported by this version; send gzip, or the body as it is."),
    };

    private async Task StoreAllAsync(HttpContext http, PipeReader body, Database database, BulkOperation operation, bool skipUnchanged)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, http.RequestAborted, context.Stopping);
        using var documents = new BulkInsertReader();
        using var chunks = new BulkInsertChunks(context, database, operation, operations, skipUnchanged);
        bool isAtEnd = false;
        while (!isAtEnd)
        {
            var read = await chunks.StoreWhileWaitingAsync(body.ReadAsync(stop.Token));
            foreach (var segment in read.Buffer)
            {
                documents.Feed(segment);
                isAtEnd = await ParseAsync(documents, chunks);
                if (isAtEnd)
                {
                    break;
                }
            }

            body.AdvanceTo(read.Buffer.End);
            if (!isAtEnd && read.IsCompleted)
            {
                await chunks.StoreRestAsync();
                throw RavenErrors.Refuse(documents.Truncated());
            }
        }

        await chunks.StoreRestAsync();
    }

    /// <summary>Takes documents from what was fed; hands full chunks on.</summary>
    /// <returns>True at the closing bracket.</returns>
    private static async ValueTask<bool> ParseAsync(BulkInsertReader documents, BulkInsertChunks chunks)
    {
        while (true)
        {
            switch (chunks.Fill(documents, out var error))
            {
                case StreamRead.End:
                    return true;
                case StreamRead.NeedMore:
                    return false;
                case StreamRead.Error:
                    await chunks.StoreRestAsync();
                    throw RavenErrors.Refuse(error);
                default:
                    await chunks.StoreAsync();
                    break;
            }
        }
    }
}
