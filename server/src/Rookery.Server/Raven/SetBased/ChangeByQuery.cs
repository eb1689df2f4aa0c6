using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Server.Access;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.LongOperations;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Raven.SetBased;

/// <summary>
/// DELETE queries and PATCH queries: start an operation that continues after the request is answered.
/// </summary>
internal sealed class ChangeByQuery(ServerContext context, OperationRegistry operations)
{
    // More operations at once would not be faster: each reads documents and writes batches.
    private const int MaxRunning = 4;

    private int _running;

    public Task DeleteAsync(HttpContext http, Database database) => BeginAsync(http, database, isPatch: false);

    public Task PatchAsync(HttpContext http, Database database) => BeginAsync(http, database, isPatch: true);

    private async Task BeginAsync(HttpContext http, Database database, bool isPatch)
    {
        IdempotencyHeader.Refuse(
            http,
            "queries",
            "it is carried out in parts, and a repetition changes the documents that match then"
        );
        if (!GetCompareExchange.IsLocal(http))
        {
            // The query may read compare-exchange values, so due ones must expire first.
            await CompareExchangeExpiry.EndDueValuesAsync(database, context.Node.Consensus);
        }

        ChangeRequest request;
        QueryRequest query;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.QueryBytesLimit,
                context.LargeRequests,
                BodyUse.Objects
            )
        )
        {
            query = isPatch ? QueryBodyJson.ReadWrapped(body.Span) : QueryBodyJson.Read(body.Span);
            request = ChangeRequest.Read(
                http,
                query,
                database,
                context.Queries,
                isPatch,
                context.Node.FormatLevel.Level
            );
        }

        Admit(request);
        var operation = operations.BeginNext(
            id => new SetOperation(database.Number, id, query.Text, context.QueryMemory),
            Principal.Of(http)
        );
        bool isBegun = context.Background.TryBegin(
            isPatch ? "Patch by query" : "Delete by query",
            () => RunAsync(database, request, operation)
        );
        if (!isBegun)
        {
            Release(request);
            operation.FailUnlessEnded();
            throw RefusedException.NodeStops();
        }

        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("OperationId"u8, operation.Id);
                json.WriteString("OperationNodeTag"u8, context.Node.Consensus.NodeTag);
            }
        );
    }

    private void Admit(ChangeRequest request)
    {
        if (context.Stopping.IsCancellationRequested)
        {
            request.Dispose();
            throw RefusedException.NodeStops();
        }

        bool isFree = Interlocked.Increment(ref _running) <= MaxRunning;
        if (isFree && context.QueryMemory.TryReserveFromCaches(request.HeldBytes))
        {
            return;
        }

        Interlocked.Decrement(ref _running);
        request.Dispose();
        throw new RefusedException(
            StatusCodes.Status429TooManyRequests,
            RavenType.RavenException,
            $"This node runs {MaxRunning} changes by query at once, and has no free place or no memory for "
                + $"another. Nothing was changed; try again when one of them has ended."
        );
    }

    private async Task RunAsync(Database database, ChangeRequest request, SetOperation operation)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, context.Stopping);
        try
        {
            await new DocumentChanges(context, database, request, operation, operations.Announce).RunAsync(
                ending.Token
            );
            operation.Complete();
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
        }
        catch (OperationCanceledException) when (context.Stopping.IsCancellationRequested)
        {
            operation.Fail(
                WithProgress(
                    request,
                    operation,
                    new RefusedException(
                        StatusCodes.Status503ServiceUnavailable,
                        RavenType.RavenException,
                        "The node is stopping."
                    )
                )
            );
        }
        catch (QueryException error)
        {
            operation.Fail(WithProgress(request, operation, QueryRefusal.Of(error, request.Plan.Query.Text)));
        }
        catch (IndexDamagedException damaged)
        {
            operation.Fail(WithProgress(request, operation, IndexCommand.Damaged(damaged)));
        }
        catch (Exception failure) when (RavenErrors.AsRefusal(failure) is { } refused)
        {
            operation.Fail(WithProgress(request, operation, refused));
        }
        finally
        {
            Release(request);
            operation.FailUnlessEnded();
            operations.Announce(operation);
        }
    }

    private void Release(ChangeRequest request)
    {
        request.Dispose();
        context.QueryMemory.Release(request.HeldBytes);
        Interlocked.Decrement(ref _running);
    }

    private static RefusedException WithProgress(ChangeRequest request, SetOperation operation, RefusedException reason)
    {
        string done = request.Patch is null ? "deleted" : "changed";
        string progress =
            operation.Processed == 0
                ? $"No document was {done}."
                : $"{Amount.Number(operation.Processed)} of {Amount.Of(operation.Total, "document")} were {done} "
                    + $"before, and stay {done}.";
        return new RefusedException(reason.Status, reason.Type, $"{reason.Message} {progress}");
    }
}
