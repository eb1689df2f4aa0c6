using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>operations/next-operation-id, operations/state, operations/kill.</summary>
internal sealed class OperationRoutes(ServerContext context, OperationRegistry operations)
{
    /// <summary>The tag keeps the client's bulk insert at the node that counts it, which answered just now. The one that leads may be dead already; clients who know who leads ask there.</summary>
    public Task NextIdAsync(HttpContext http, Database database) => JsonAnswer.SendAsync(http, json =>
    {
        json.WriteNumber("Id"u8, operations.NextId());
        json.WriteString("NodeTag"u8, context.Node.Consensus.NodeTag);
    });

    public Task StateAsync(HttpContext http, Database database) =>
        operations.TryGet(database, new QueryParameters(http).Number("id", 0), out var operation)
            ? JsonAnswer.SendAsync(http, json => WriteState(json, operation))
            : Empty.NotFound(http);

    public Task KillAsync(HttpContext http, Database database)
    {
        if (!operations.TryGet(database, new QueryParameters(http).Number("id", 0), out var operation))
        {
            return Empty.NotFound(http);
        }

        if (operation.Stage == OperationStage.InProgress)
        {
            operation.Kill();
        }

        return Empty.NoContent(http);
    }

    /// <summary>Writes Status, Progress and Result, inside an object.</summary>
    public static void WriteState(Utf8JsonWriter json, BulkOperation operation)
    {
        json.WriteString("Status"u8, operation.Stage.ToString());
        json.WriteStartObject("Progress"u8);
        WriteCounts(json, operation);
        json.WriteEndObject();
        if (operation.Stage == OperationStage.InProgress)
        {
            json.WriteNull("Result"u8);
            return;
        }

        json.WriteStartObject("Result"u8);
        if (operation.Failure is { } failure)
        {
            json.WriteString("Type"u8, failure.Type);
            json.WriteString("Message"u8, failure.Message);
            json.WriteString("Error"u8, failure.Message);
            json.WriteNumber("StatusCode"u8, failure.Status);
        }
        else
        {
            WriteCounts(json, operation);
        }

        json.WriteEndObject();
    }

    private static void WriteCounts(Utf8JsonWriter json, BulkOperation operation)
    {
        json.WriteNumber("Total"u8, operation.Total);
        json.WriteNumber("BatchCount"u8, operation.Batches);
        json.WriteString("LastProcessedId"u8, operation.LastProcessedId);
        json.WriteNumber("DocumentsProcessed"u8, operation.Total);
    }
}
