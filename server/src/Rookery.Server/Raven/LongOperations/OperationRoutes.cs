using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Access;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>operations/next-operation-id, operations/state and operations/kill.</summary>
internal sealed class OperationRoutes(ServerContext context, OperationRegistry operations)
{
    /// <summary>
    /// Answers with a new number and this node's tag. The client sends its bulk insert to the node with that tag, which
    /// alone knows the number.
    /// </summary>
    public Task NextIdAsync(HttpContext http, Database database) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("Id"u8, operations.NextId());
                json.WriteString("NodeTag"u8, context.Node.Consensus.NodeTag);
            }
        );

    public Task StateAsync(HttpContext http, Database database)
    {
        var operation = Find(http, database);
        return JsonResponse.SendAsync(http, json => WriteState(json, operation));
    }

    public Task KillAsync(HttpContext http, Database database)
    {
        Find(http, database).Kill();
        return EmptyResponse.AnswerNoContent(http);
    }

    /// <summary>GET operations/state: an operation that belongs to no database.</summary>
    public Task StateOfServerAsync(HttpContext http)
    {
        var operation = FindOfServer(http);
        return JsonResponse.SendAsync(http, json => WriteState(json, operation));
    }

    /// <summary>POST admin/operations/kill: the same for an operation that belongs to no database.</summary>
    public Task KillOfServerAsync(HttpContext http)
    {
        FindOfServer(http).Kill();
        return EmptyResponse.AnswerNoContent(http);
    }

    /// <summary>Writes Status, Progress and Result as members of an object.</summary>
    /// <exception cref="RefusedException">The operation was forgotten while its result was written: 400.</exception>
    public static void WriteState(Utf8JsonWriter json, LongOperation operation)
    {
        json.WriteString("Status"u8, operation.Stage.ToString());
        json.WriteStartObject("Progress"u8);
        operation.WriteProgress(json);
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
            operation.WriteResult(json);
        }

        json.WriteEndObject();

        // Check after writing: if the result is still kept now, it was written completely.
        if (operation.IsForgotten)
        {
            throw RefusedException.BadRequest(
                $"Operation {operation.Id} ended, and many others after it: its result is no longer kept. Its "
                    + "changes remain."
            );
        }
    }

    // An operation's state contains a query, a count or an error message. A caller without the right to read sees only
    // operations that it started.
    private static bool MaySee(HttpContext http, Database database, LongOperation operation) =>
        ReadRight.IsHeld(http, database)
        || string.Equals(operation.BegunBy, Principal.Of(http).Key, StringComparison.Ordinal);

    private LongOperation FindOfServer(HttpContext http)
    {
        long id = new QueryParameters(http).Number("id", defaultValue: 0);
        return operations.TryGet(LongOperation.OfServer, id, out var operation)
            ? operation
            : throw RefusedException.BadRequest(
                $"Node {context.Node.Consensus.NodeTag} knows no operation {id} that belongs to no database: the node "
                    + "restarted since, or many other operations ended after it."
            );
    }

    // Not 404, which RavenDB's clients read as "no result": they would poll forever or fail silently.
    private LongOperation Find(HttpContext http, Database database)
    {
        long id = new QueryParameters(http).Number("id", defaultValue: 0);
        return operations.TryGet(database, id, out var operation) && MaySee(http, database, operation)
            ? operation
            : throw RefusedException.BadRequest(
                $"Node {context.Node.Consensus.NodeTag} knows no operation {id} of this database: the node "
                    + "restarted since, many other operations ended after it, or the database was deleted and created "
                    + "again. Its changes remain, unless they were deleted with the database."
            );
    }
}
