using System.IO.Pipelines;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Databases;
using Rookery.Platform.Compression;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Transfer;

/// <summary>
/// POST /databases/{database}/import: reads lines of JSON, stores the valid ones and reports each bad one with number
/// and reason. The answer is lines too: progress about once a second, bad lines as they are found, and the result at
/// the end.
/// </summary>
internal static class ImportRoute
{
    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapPost(
                "/databases/{database}/import",
                RavenRoute.OnDatabase(context, (http, database) => AnswerAsync(http, context, database))
            )
            .WithMetadata(LongBody.Instance)
            .For(RouteScope.Write)
            .Taking(RavenParameters.Import);

    private static async Task AnswerAsync(HttpContext http, ServerContext context, Database database)
    {
        IdempotencyHeader.Refuse(
            http,
            "import",
            "it is stored in parts, and a repetition overwrites each document that has an id"
        );
        var body = GzipBody.Open(http);
        using var room = new StreamedRoom(http, body.Reader, context.LargeRequests);
        using var import = new NdjsonImport(database, context.Node.Consensus, room, context.Time);
        var report = new ImportReport(http, context.Time, import);
        RefusedException? refusal = null;

        // The read gets no cancellation token: Kestrel treats a cancelled read as still open.
        await using var interrupt = context.Stopping.UnsafeRegister(
            static reader => ((PipeReader)reader!).CancelPendingRead(),
            body.Reader
        );
        try
        {
            var access = new FeedAccess(context, http);
            await ReadAsync(body.Reader, room, import, report, access, context.Stopping, http.RequestAborted);
            if (import.Rejection is null)
            {
                await body.CompleteAsync();
            }
        }
        catch (Exception failure)
            when (failure is InvalidDataException or TrailingBytesException or BadHttpRequestException
                || failure.InnerException is OverflowException
            )
        {
            await import.StoreRestAsync(http.RequestAborted);
            string problem = failure switch
            {
                InvalidDataException => "The gzip of the import is damaged or cut off",
                TrailingBytesException trailing => $"In the import {trailing.Message}",
                _ => "The import came too slowly, broke off or is malformed HTTP",
            };
            import.Break($"{problem} after line {import.Line}.");
        }
        catch (RefusedException refused)
        {
            // A large line got no memory, or the credential has ended. The lines before were stored.
            refusal = import.Rejection is null ? refused : null;
            import.RefuseLine(refused.Message);
        }

        await report.EndAsync(refusal);
        if (import.Rejection is not null && !EarlyResponse.IsDue(http))
        {
            await EarlyResponse.ReadOnAsync(http, context.Time, context.Stopping);
        }
    }

    private static async Task ReadAsync(
        PipeReader body,
        StreamedRoom room,
        NdjsonImport import,
        ImportReport report,
        FeedAccess access,
        CancellationToken stopping,
        CancellationToken cancellation
    )
    {
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(stopping, cancellation);
        bool isComplete = false;
        while (!isComplete)
        {
            var reading = room.ReadAsync(cancellation);
            var read =
                reading.IsCompletedSuccessfully || !room.IsHeldByChunks
                    ? await reading
                    : await import.StoreWhileWaitingAsync(reading.AsTask(), cancellation);
            try
            {
                if (stopping.IsCancellationRequested)
                {
                    break;
                }

                if (read.IsCanceled)
                {
                    throw new BadHttpRequestException(
                        "A large document came too slowly.",
                        StatusCodes.Status408RequestTimeout
                    );
                }

                if (access.WhyEndedCached() is not null)
                {
                    await import.StoreRestAsync(cancellation); // it came while the sender was allowed to write
                    access.RequireForBody();
                }

                foreach (var part in read.Buffer)
                {
                    import.Feed(part);
                    await DrainAsync(import, report, cancellation);
                    await room.FitDocumentAsync(
                        import.CollectedBytes,
                        () => import.StoreRestAsync(cancellation),
                        linked.Token
                    );
                }
            }
            catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
            {
                break;
            }
            finally
            {
                // Needed after a failure too: EarlyResponse can read the rest of the body only after this read.
                body.AdvanceTo(read.Buffer.End);
            }

            isComplete = read.IsCompleted || import.Rejection is not null;
        }

        if (!isComplete)
        {
            // Store all documents read so far first, so that the report names the line from which the client must
            // continue.
            await import.StoreRestAsync(cancellation);
            import.Stop();
            return;
        }

        import.Complete();
        await DrainAsync(import, report, cancellation);
        await import.StoreRestAsync(cancellation);
    }

    private static async Task DrainAsync(NdjsonImport import, ImportReport report, CancellationToken cancellation)
    {
        while (import.Rejection is null && import.ReadUntilDue(report.AddBadLine))
        {
            await import.FlushAsync(cancellation);
            await report.ReportProgressAsync();
        }
    }
}
