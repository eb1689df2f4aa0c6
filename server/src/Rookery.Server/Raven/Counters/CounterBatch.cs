using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Server.Access;
using Rookery.Server.Raven.Batches;

namespace Rookery.Server.Raven.Counters;

/// <summary>
/// POST counters: increments, deletes and reads counters of several documents, all or none. A request that only reads,
/// as clients send it for many names, takes no entry of the log.
/// </summary>
internal sealed class CounterBatch(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        ParsedBatch batch;
        bool isFull;
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
            batch = Parse(http, database, body.Span, out isFull);
            lease = body.Lease;
        }

        // Read the operations before proposing: afterwards consensus owns the command, and its memory may be reused.
        var operations = ReadOperations(batch);
        bool writes = operations.Exists(static operation => operation.Kind != OperationKind.CounterGet);
        bool reads = operations.Exists(static operation => operation.Kind == OperationKind.CounterGet);
        bool mayRead = ReadRight.IsHeld(http, database);
        if ((reads && !mayRead) || (writes && !Principal.Of(http).HasScope(AccessScopes.Write, database.Name)))
        {
            batch.Command.Dispose();
            throw Missing(http, database, reads && !mayRead ? "read" : "write");
        }

        if (!writes)
        {
            batch.Command.Dispose();
            await AnswerReadsAsync(http, database, operations, isFull, lease);
            return;
        }

        await PatchRoom.TakeAsync(http, context, database, batch, lease);
        var outcome = await HttpProposal.ProposeAsync(context, http, batch.Command);
        if (outcome.Rejection is { } rejection)
        {
            await AnswerRejectionAsync(http, rejection);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        using var answer = ResponseBuffer.Rent();
        answer.Write("{\"Counters\":["u8);
        bool isFirst = true;
        for (int i = 0; i < operations.Count; i++)
        {
            isFirst &= !CounterJson.TryWriteResult(
                answer,
                operations[i],
                outcome[i],
                isFirst,
                mayRead,
                isFull ? database : null
            );
            if (answer.IsPartDue)
            {
                await answer.SendPartAsync(http, pause: null);
            }
        }

        answer.Write("]}"u8);
        await answer.SendAsync(http);
    }

    private async Task AnswerReadsAsync(
        HttpContext http,
        Database database,
        List<BatchedCounter> operations,
        bool isFull,
        LargeRequests.Lease? lease
    )
    {
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            await RavenErrors.WriteAsync(http, RavenRoute.NoBarrierRejection(context));
            return;
        }

        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests, lease: lease);
        using (var reader = new AnswerReader(database, answer))
        {
            answer.Write("{\"Counters\":["u8);
            for (int i = 0; i < operations.Count; i++)
            {
                await slices.YieldWhenDueAsync();
                byte[] id = Encoding.UTF8.GetBytes(operations[i].Id);
                byte[] name = Encoding.UTF8.GetBytes(operations[i].Name);
                long neededBytes = (2 * CounterJson.DetailBytes) + (6L * (id.Length + name.Length));
                while (!answer.TryReserve(neededBytes))
                {
                    reader.Pause();
                    await answer.WaitForMemoryAsync(neededBytes);
                }

                answer.Write(i == 0 ? ""u8 : ","u8);
                long? value = reader.Current.ReadCounter(id, name, out long etag);
                string? changeVector = isFull ? database.ChangeVectorOf(etag) : null;
                CounterJson.WriteDetail(answer.Buffer, id, name, value, changeVector);
                await answer.SendWhenDueAsync(reader.Pause);
            }

            answer.Write("]}"u8);
        }

        await answer.SendAsync();
    }

    private ParsedBatch Parse(HttpContext http, Database database, ReadOnlySpan<byte> body, out bool isFull)
    {
        try
        {
            return CounterBatchParser.TryParse(
                body,
                database.Number,
                IdempotencyHeader.ReadOrRequestId(http),
                context.Options.BatchBytesLimit,
                context.Node.FormatLevel.Level,
                out var batch,
                out isFull,
                out var error
            )
                ? batch
                : throw RavenErrors.Refuse(error);
        }
        catch (OutOfMemoryException)
        {
            throw context.LargeRequests.CreateMemoryRefusal((long)body.Length * LargeRequests.CopiesOfWrite);
        }
    }

    // RavenDB answers a missing document with 404 on this route. In bulk_docs clients take 404 for a broken answer.
    private static Task AnswerRejectionAsync(HttpContext http, Rejection rejection) =>
        rejection.Kind == RejectionKind.DocumentMissing
            ? ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status404NotFound,
                RavenType.DocumentDoesNotExist,
                rejection.Message
            )
            : RavenErrors.WriteAsync(http, rejection, IdempotencyHeader.ReadOrRequestId(http).IsPresent);

    private static List<BatchedCounter> ReadOperations(in ParsedBatch batch)
    {
        var operations = new List<BatchedCounter>(batch.Count);
        var reader = new CommandReader(batch.Command.Written.Span);
        string id = "";
        while (reader.TryReadOperation(out var operation))
        {
            id = operation.StartsGroup ? Encoding.UTF8.GetString(operation.Id.Written) : id;
            operations.Add(new BatchedCounter(operation.Kind, id, Encoding.UTF8.GetString(operation.Counter.Written)));
        }

        return operations;
    }

    private static RefusedException Missing(HttpContext http, Database database, string scope) =>
        new(
            StatusCodes.Status403Forbidden,
            ErrorResponse.Forbidden,
            $"POST {http.Request.Path} with {(scope is "read" ? "Get" : "Increment or Delete")} needs the scope "
                + $"{scope} in database '{database.Name}', which '{Principal.Of(http).Name}' does not have. Nothing "
                + "was stored."
        );
}
