using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Server.Access;

namespace Rookery.Server.Raven.Batches;

/// <summary>POST bulk_docs: one atomic batch, as a session's SaveChanges sends it.</summary>
internal sealed class BulkDocs(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        CheckReplicas(new QueryParameters(http));
        var wait = IndexWait.Read(new QueryParameters(http));
        if (wait is not null)
        {
            if (!ReadRight.IsHeld(http, database))
            {
                throw ReadRight.MissingForWait(http, database);
            }

            await wait.CheckAsync(context, database);
        }

        if (MultipartBatch.IsSentBy(http))
        {
            var access = new FeedAccess(context, http);
            var partsLease = context.LargeRequests.Begin(http);
            http.Response.RegisterForDispose(partsLease);
            using var parts = await MultipartBatch.ReceiveAsync(
                http,
                context,
                database,
                partsLease,
                commands => ParseBeforeContents(http, database, commands)
            );
            access.RequireForBody();
            await StoreAsync(http, database, wait, parts.Complete(), partsLease);
            return;
        }

        ParsedBatch batch;
        LargeRequests.Lease? lease;
        using (
            var body = await RequestBody.ReadAsync(
                http,
                context.Options.BatchBytesLimit,
                context.LargeRequests,
                BodyUse.Write
            )
        )
        {
            batch = Parse(http, database, body.Span);
            lease = body.Lease;
        }

        await StoreAsync(http, database, wait, batch, lease);
    }

    private async Task StoreAsync(
        HttpContext http,
        Database database,
        IndexWait? wait,
        ParsedBatch batch,
        LargeRequests.Lease? lease
    )
    {
        // Read the operations before proposing: afterwards consensus owns the command, and its memory may be reused.
        var operations = BatchOperation.ReadAll(batch);
        try
        {
            RequireRights(http, database, new CommandReader(batch.Command.Written.Span));
        }
        catch
        {
            batch.Command.Dispose();
            throw;
        }

        if (batch.Count == 0)
        {
            // An empty batch is answered without a proposal. A command without operations takes no etag, so its rows
            // could not be distinguished from those of the previous frame.
            batch.Command.Dispose();
            await JsonResponse.SendAsync(
                http,
                batch.IsClusterWide ? WriteNoResultsClusterWide : WriteNoResults,
                StatusCodes.Status201Created
            );
            return;
        }

        await PatchRoom.TakeAsync(http, context, database, batch, lease);
        var outcome = await HttpProposal.ProposeAsync(context, http, batch.Command);
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(
                http,
                rejection,
                IdempotencyHeader.ReadOrRequestId(http).IsPresent || BatchOperation.MayAllBeRepeated(operations)
            );
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        if (wait is not null)
        {
            await WaitAsync(http, database, wait, operations, outcome);
        }

        http.Response.StatusCode = StatusCodes.Status201Created;
        await AnswerAsync(http, database, operations, outcome, batch.IsClusterWide, ReadRight.IsHeld(http, database));
    }

    private ParsedBatch Parse(HttpContext http, Database database, ReadOnlySpan<byte> body)
    {
        try
        {
            return BatchRequestParser.TryParse(
                body,
                database.Number,
                IdempotencyHeader.ReadOrRequestId(http),
                context.Options.BatchBytesLimit,
                out var batch,
                out var error,
                context.Node.FormatLevel.Level,
                hasGuards: !new QueryParameters(http).Flag("disableAtomicDocumentWrites")
            )
                ? batch
                : throw RavenErrors.Refuse(error);
        }
        catch (OutOfMemoryException)
        {
            throw context.LargeRequests.CreateMemoryRefusal((long)body.Length * LargeRequests.CopiesOfWrite);
        }
    }

    // Everything that can be refused without the files is refused before they are sent.
    private BatchWriter ParseBeforeContents(HttpContext http, Database database, ReadOnlySpan<byte> commands)
    {
        if (
            !BatchRequestParser.TryParseBeforeContents(
                commands,
                database.Number,
                IdempotencyHeader.ReadOrRequestId(http),
                context.Options.BatchBytesLimit,
                out var writer,
                out var error,
                context.Node.FormatLevel.Level
            )
        )
        {
            throw RavenErrors.Refuse(error);
        }

        try
        {
            RequireRights(http, database, new CommandReader(writer!.Written));
            return writer;
        }
        catch
        {
            writer!.Dispose();
            throw;
        }
    }

    private static void RequireRights(HttpContext http, Database database, CommandReader command)
    {
        if (ReadRight.IsHeld(http, database))
        {
            return;
        }

        while (command.TryReadOperation(out var operation))
        {
            if (operation.Kind == OperationKind.Patch)
            {
                throw ReadRight.MissingForScript(http, database, "PUT and DELETE need write only.");
            }

            if (operation.Kind == OperationKind.CounterGet)
            {
                throw ReadRight.MissingForCounters(http, database);
            }

            if (operation.Kind == OperationKind.AttachmentCopy)
            {
                throw ReadRight.MissingForCopies(http, database);
            }
        }
    }

    /// <summary>
    /// Checks the number of replicas that the client wants to wait for. A committed batch is on a majority, so a wait
    /// for that many replicas is over already. A larger number is refused before the batch is stored, unless the client
    /// accepts a timeout.
    /// </summary>
    private void CheckReplicas(QueryParameters parameters)
    {
        bool waits = IndexWait.ReadDuration(parameters, "waitForReplicasTimeout") is not null;
        string requested =
            parameters.Text("numberOfReplicasToWaitFor") is { Length: > 0 } text ? text
            : waits ? "1"
            : "0";
        bool throws =
            parameters.Text("throwOnTimeoutInWaitForReplicas") is null
            || parameters.Flag("throwOnTimeoutInWaitForReplicas");
        if (requested is "majority")
        {
            return;
        }

        if (!int.TryParse(requested, NumberStyles.None, CultureInfo.InvariantCulture, out int replicas))
        {
            throw RefusedException.BadRequest(
                "The parameter 'numberOfReplicasToWaitFor' must be majority or a whole number from 0, not "
                    + $"'{requested}'."
            );
        }

        int voters = context.Node.Consensus.View.Members.Count(static member => member.IsVoter);
        if (throws && replicas > voters / 2)
        {
            throw new RefusedException(
                StatusCodes.Status400BadRequest,
                RavenType.BatchTimeout,
                $"numberOfReplicasToWaitFor={replicas} is too many: a write is answered when a majority of the "
                    + $"{voters} voters has it: {voters / 2} besides the first one. Nothing was stored; "
                    + "wait for 'majority' instead."
            );
        }
    }

    private async Task WaitAsync(
        HttpContext http,
        Database database,
        IndexWait wait,
        BatchOperation[] operations,
        CommandOutcome outcome
    )
    {
        var collections = new HashSet<string>(IgnoredCase.OfCollections);
        bool areKnown = true;
        for (int i = 0; i < operations.Length; i++)
        {
            if (operations[i].Kind is OperationKind.CompareExchangePut or OperationKind.CompareExchangeDelete)
            {
                continue; // indexes do not read compare-exchange values
            }

            string? collection = outcome[i].Collection;
            areKnown &= collection is not null && !operations[i].ChangesOtherDocuments;
            collections.Add(collection ?? "");
        }

        using var ending = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        try
        {
            await wait.WaitAsync(context, database, areKnown ? [.. collections] : null, ending.Token);
        }
        catch
        {
            DisposeDocuments(operations, outcome, from: 0);
            throw;
        }
    }

    // Disposes the documents that patches returned, because nothing else does.
    private static void DisposeDocuments(BatchOperation[] operations, CommandOutcome outcome, int from)
    {
        for (int i = from; i < operations.Length; i++)
        {
            outcome[i].Document?.Dispose();
        }
    }

    private static void WriteNoResults(Utf8JsonWriter json)
    {
        json.WriteStartArray("Results"u8);
        json.WriteEndArray();
    }

    // Clients take an index of 0 for a server without cluster-wide transactions.
    private void WriteNoResultsClusterWide(Utf8JsonWriter json)
    {
        WriteNoResults(json);
        json.WriteNumber("TransactionIndex"u8, Math.Max(context.Node.Consensus.AppliedIndex, 1));
    }

    private static async Task AnswerAsync(
        HttpContext http,
        Database database,
        BatchOperation[] operations,
        CommandOutcome outcome,
        bool isClusterWide,
        bool mayRead
    )
    {
        bool isFirstCounter = true;
        using var answer = ResponseBuffer.Rent();
        using var json = new Utf8JsonWriter(answer);
        answer.Write("{\"Results\":["u8);
        int written = 0;
        try
        {
            while (written < operations.Length)
            {
                int next = written++;
                if (operations[next].Counter is not null)
                {
                    answer.Write(next == 0 || !operations[next].StartsGroup ? ""u8 : ","u8);
                    isFirstCounter = operations[next]
                        .WriteCounterResult(answer, database, outcome[next], mayRead, isFirstCounter);
                }
                else
                {
                    answer.Write(next == 0 ? ""u8 : ","u8);
                    var removal = operations[next].IsMoveBetweenDocuments ? outcome[written++] : default;
                    operations[next].WriteResult(json, database, outcome[next], mayRead, removal);
                    json.Flush();
                    json.Reset();
                }

                if (answer.IsPartDue)
                {
                    await answer.SendPartAsync(http, pause: null);
                }
            }
        }
        finally
        {
            // If the client disconnected, the remaining results were not written.
            DisposeDocuments(operations, outcome, written);
        }

        answer.Write("]"u8);
        if (isClusterWide)
        {
            answer.Write(",\"TransactionIndex\":"u8);
            answer.Write(Encoding.ASCII.GetBytes(outcome.Index.ToString(CultureInfo.InvariantCulture)));
        }

        answer.Write("}"u8);
        await answer.SendAsync(http);
    }
}
