using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Server.Access;
using Rookery.Server.Raven.LongOperations;
using Rookery.Storage;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// Starts operations on the revisions of all documents, which continue after the request is answered.
/// </summary>
internal sealed class RevisionsOperations(ServerContext context, OperationRegistry operations)
{
    // Each reads all documents with revisions and writes batches: more at once would not be faster.
    private const int MaxRunning = 2;
    private const int MaxBodyBytes = 1 << 20;

    private int _running;

    /// <summary>POST admin/revisions/config/enforce.</summary>
    public Task EnforceAsync(HttpContext http, Database database) =>
        BeginAsync(http, database, "Enforce the configuration of revisions", "RemovedRevisions", isRevert: false);

    /// <summary>POST revisions/revert.</summary>
    public Task RevertAsync(HttpContext http, Database database) =>
        BeginAsync(http, database, "Revert documents", "RevertedDocuments", isRevert: true);

    private async Task BeginAsync(HttpContext http, Database database, string name, string changedName, bool isRevert)
    {
        if (context.Node.FormatLevel.Level < FormatLevel.Revisions)
        {
            throw ChangeRevisions.BelowLevel();
        }

        RevisionsRequest request;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            request = isRevert ? RevisionsRequest.ReadRevert(body.Span) : RevisionsRequest.ReadEnforce(body.Span);
        }

        // A lagging follower would miss revisions that were acknowledged before.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(context));
        }

        if (Interlocked.Increment(ref _running) > MaxRunning)
        {
            Interlocked.Decrement(ref _running);
            throw new RefusedException(
                StatusCodes.Status429TooManyRequests,
                RavenType.RavenException,
                $"This node runs {MaxRunning} operations on revisions at once, and has no free place for another. "
                    + "Nothing was changed; try again when one of them has ended."
            );
        }

        var operation = operations.BeginNext(
            id => new RevisionsOperation(database.Number, id, changedName, isRevert),
            Principal.Of(http)
        );
        if (!context.Background.TryBegin(name, () => RunAsync(database, request, operation)))
        {
            Interlocked.Decrement(ref _running);
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

    private async Task RunAsync(Database database, RevisionsRequest request, RevisionsOperation operation)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, context.Stopping);
        try
        {
            await new RevisionsWork(context, database, request, operation, operations.Announce).RunAsync(ending.Token);
            operation.Complete();
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
        }
        catch (OperationCanceledException) when (context.Stopping.IsCancellationRequested)
        {
            operation.Fail(
                new RefusedException(
                    StatusCodes.Status503ServiceUnavailable,
                    RavenType.RavenException,
                    "The node is stopping. What was changed before stays changed."
                )
            );
        }
        catch (Exception failure) when (RavenErrors.AsRefusal(failure) is { } refused)
        {
            operation.Fail(refused);
        }
        catch (DamagedException damaged)
        {
            operation.Fail(
                new RefusedException(
                    StatusCodes.Status500InternalServerError,
                    RavenType.RavenException,
                    $"{damaged.Message} What was changed before stays changed."
                )
            );
        }
        finally
        {
            Interlocked.Decrement(ref _running);
            operation.FailUnlessEnded();
            operations.Announce(operation);
        }
    }
}
