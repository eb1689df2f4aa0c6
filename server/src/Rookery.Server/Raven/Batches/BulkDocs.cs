using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Documents.Commands;

namespace Rookery.Server.Raven.Batches;

/// <summary>POST bulk_docs: one atomic batch, as a session's saveChanges sends it.</summary>
internal sealed class BulkDocs(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        CheckWaits(new QueryParameters(http), context.Options.NodeTag);
        ParsedBatch batch;
        using (var body = await RequestBody.ReadAsync(http, context.Options.BatchBytesLimit, context.Bodies, untilAnswered: true))
        {
            if (!BatchRequestParser.TryParse(body.Span, database.Number, IdempotencyHeader.Read(http), context.Options.BatchBytesLimit, out batch, out var error))
            {
                throw RavenErrors.Refuse(error);
            }
        }

        if (batch.Count == 0)
        {
            // A command without operations would take no etag, so its rows could not be told from those of the frame before.
            batch.Command.Dispose();
            await JsonAnswer.SendAsync(http, WriteNoResults, StatusCodes.Status201Created);
            return;
        }

        // Read before the command passes on: afterwards its memory belongs to others.
        var operations = BatchOperation.ReadAll(batch);
        var outcome = await context.Node.Consensus.ProposeAsync(batch.Command, CancellationToken.None);
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection);
            return;
        }

        IdempotencyHeader.CheckOutcome(http, database, outcome, Array.ConvertAll(operations, static operation => operation.Kind));
        using var answer = AnswerBuffer.Rent();
        Write(answer, database, batch, operations, outcome);
        http.Response.StatusCode = StatusCodes.Status201Created;
        await answer.SendAsync(http);
    }

    /// <summary>
    /// A single node is its own majority, and nothing here is indexed: waiting is over at once. Waiting for more nodes than there are, or for an index that
    /// does not exist, is refused before anything is written.
    /// </summary>
    private static void CheckWaits(QueryParameters parameters, string nodeTag)
    {
        foreach (string name in (ReadOnlySpan<string>)["waitForReplicasTimeout", "waitForIndexesTimeout"])
        {
            if (parameters.Text(name) is { Length: > 0 } duration && !DurationText.TryParse(duration, out _))
            {
                throw RefusedException.BadRequest($"The parameter '{name}' must be milliseconds or a TimeSpan like 00:00:05, not '{duration}'.");
            }
        }

        if (parameters.Text("numberOfReplicasToWaitFor") is { Length: > 0 } replicas && replicas is not ("majority" or "0") && parameters.Flag("throwOnTimeoutInWaitForReplicas"))
        {
            throw new RefusedException(
                StatusCodes.Status400BadRequest,
                RavenType.Timeout,
                $"numberOfReplicasToWaitFor={replicas} cannot be reached: node {nodeTag} is alone. Nothing was stored; wait for 'majority' instead, which is what every write here does.");
        }

        if (parameters.Text("waitForSpecificIndex") is { Length: > 0 } index)
        {
            throw RefusedException.NotSupported($"waitForSpecificIndex={index}: indexes are not supported by this version. Nothing was stored.");
        }
    }

    private static void WriteNoResults(Utf8JsonWriter json)
    {
        json.WriteStartArray("Results"u8);
        json.WriteEndArray();
    }

    private static void Write(AnswerBuffer answer, Database database, in ParsedBatch batch, BatchOperation[] operations, in CommandOutcome outcome)
    {
        using var json = new Utf8JsonWriter(answer);
        json.WriteStartObject();
        json.WriteStartArray("Results"u8);
        for (int i = 0; i < operations.Length; i++)
        {
            operations[i].WriteResult(json, database, outcome[i]);
        }

        json.WriteEndArray();
        if (batch.ClusterWide)
        {
            json.WriteNumber("TransactionIndex"u8, outcome.Index);
        }

        json.WriteEndObject();
    }
}
