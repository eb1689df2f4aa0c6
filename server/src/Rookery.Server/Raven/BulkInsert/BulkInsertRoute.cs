using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Platform.Compression;
using Rookery.Server.Access;
using Rookery.Server.Raven.Attachments;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>
/// POST bulk_insert: one array of documents, counters and attachments of any length. A chunk is parsed while the
/// previous one becomes durable. If the client is faster than the disk, TCP slows it down. The answer is sent at the
/// closing bracket, because RavenDB's clients never end the request.
/// </summary>
internal sealed class BulkInsertRoute(ServerContext context, OperationRegistry operations)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        IdempotencyHeader.Refuse(
            http,
            "bulk_insert",
            "it is stored in parts, and a repetition overwrites each document by its id"
        );
        var parameters = new QueryParameters(http);
        bool skipUnchanged = parameters.Flag("skipOverwriteIfUnchanged");
        var principal = Principal.Of(http);
        var operation = parameters.Number("id", defaultValue: 0) is > 0 and var requestedId
            ? operations.Begin(new BulkOperation(database.Number, requestedId), principal)
            : operations.BeginNext(id => new BulkOperation(database.Number, id), principal);
        try
        {
            await StoreAllAsync(http, database, operation, skipUnchanged);
            operation.Complete();
            await EmptyResponse.Answer(http, StatusCodes.Status201Created);
        }
        catch (Exception failure) when (RavenErrors.AsOwnFailure(failure) is { } refused)
        {
            operation.Fail(refused);
            await FailAsync(http, operation, refused);
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
            http.Abort();
        }
        catch (Exception failure)
            when (failure
                    is OperationCanceledException
                        or IOException
                        or InvalidDataException
                        or BadHttpRequestException
            )
        {
            operation.Fail(RefusedException.BadRequest($"The stream broke off: {Explain(failure)}."));
            await FailAsync(http, operation, operation.Failure!);
        }
        finally
        {
            operation.FailUnlessEnded();
            operations.Announce(operation);
        }
    }

    private string Explain(Exception failure) =>
        failure switch
        {
            InvalidDataException => "its gzip is damaged or cut off",
            TrailingBytesException trailing => trailing.Message,
            BadHttpRequestException { StatusCode: StatusCodes.Status408RequestTimeout } => "it came too slowly",
            OperationCanceledException when context.Stopping.IsCancellationRequested => "the node is stopping",
            _ => "the client left, or sent malformed HTTP",
        };

    // RavenDB's clients read the reason from operations/state whatever the status is, except for statuses that send
    // them to another node (503 and similar) or that mean "no result" (404).
    private static Task FailAsync(HttpContext http, BulkOperation operation, RefusedException refused)
    {
        http.Response.Headers.Connection = "close";
        bool keepsStatus =
            refused.Status
            is StatusCodes.Status400BadRequest
                or StatusCodes.Status403Forbidden
                or StatusCodes.Status413PayloadTooLarge
                or StatusCodes.Status415UnsupportedMediaType
                or StatusCodes.Status429TooManyRequests
                or StatusCodes.Status501NotImplemented
                or StatusCodes.Status507InsufficientStorage;
        return ErrorResponse.WriteAsync(
            http,
            keepsStatus ? refused.Status : StatusCodes.Status500InternalServerError,
            refused.Type,
            $"Bulk insert {operation.Id} stopped after {operation.Total} documents, which are stored: {refused.Message}"
        );
    }

    private async Task StoreAllAsync(HttpContext http, Database database, BulkOperation operation, bool skipUnchanged)
    {
        var body = GzipBody.Open(http);

        // The read gets no cancellation token: Kestrel treats a cancelled read as still open and logs an error. If the
        // client closes the connection, the read ends by itself.
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, context.Stopping);
        await using var interrupt = stop.Token.UnsafeRegister(
            static reader => ((PipeReader)reader!).CancelPendingRead(),
            body.Reader
        );
        using var documents = new BulkInsertReader(context.Node.FormatLevel.Level);
        using var room = new StreamedRoom(http, body.Reader, context.LargeRequests);
        using var chunks = new BulkInsertChunks(
            context,
            database,
            operation,
            operations,
            room,
            body.Reader,
            skipUnchanged
        );

        // Only a request with a Content-Length ends; RavenDB's clients send none and keep the request open.
        bool isEnded = http.Request.ContentLength is not null;
        bool isAtBracket = false;
        bool isComplete = false;
        var access = new FeedAccess(context, http);
        while (!isAtBracket || (isEnded && !isComplete))
        {
            var read = await chunks.StoreWhileWaitingAsync();
            try
            {
                stop.Token.ThrowIfCancellationRequested();
                if (read.IsCanceled)
                {
                    throw chunks.IsReceivingContent ? ContentPace.TooSlow() : LargeRequests.TooSlow(http);
                }

                access.RequireForBody();
                foreach (var segment in read.Buffer)
                {
                    documents.Feed(segment);
                    isAtBracket = await ParseAsync(documents, chunks);
                    await room.FitDocumentAsync(documents.CollectedBytes, chunks.StoreRestAsync, stop.Token);
                }
            }
            finally
            {
                // Needed after an error too: Kestrel reads the rest of the body only after this read has ended.
                body.Reader.AdvanceTo(read.Buffer.End);
            }

            isComplete = read.IsCompleted;
            if (isComplete && !isAtBracket)
            {
                await chunks.StoreRestAsync();
                throw RavenErrors.Refuse(documents.Truncated());
            }
        }

        await chunks.StoreRestAsync();
        await body.CompleteAsync();
    }

    /// <summary>Parses documents from the bytes that the reader has, and proposes full chunks.</summary>
    /// <returns>True after the closing bracket.</returns>
    /// <exception cref="RefusedException">The stream is malformed, or something follows the closing
    /// bracket.</exception>
    private static async ValueTask<bool> ParseAsync(BulkInsertReader documents, BulkInsertChunks chunks)
    {
        while (true)
        {
            switch (chunks.Fill(documents, out var error))
            {
                case StreamRead.End when documents.IsFollowedByNothing(out error):
                    return true;
                case StreamRead.NeedMore:
                    return false;
                case StreamRead.Content:
                    if (!await chunks.ReceiveAsync(documents))
                    {
                        return false;
                    }

                    break;
                case StreamRead.End or StreamRead.Error:
                    await chunks.StoreRestAsync();
                    throw RavenErrors.Refuse(error);
                default:
                    await chunks.StoreAsync();
                    break;
            }
        }
    }
}
