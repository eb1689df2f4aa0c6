using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;

namespace Rookery.Server.Raven.Indexes;

/// <summary>GET, DELETE and RESET of indexes.</summary>
internal sealed class IndexDefinitionRoutes(ServerContext context)
{
    /// <summary>GET indexes[?name=…][&amp;start=&amp;pageSize=][&amp;namesOnly=true]: definitions, by name.</summary>
    public Task ListAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        string? name = parameters.Text("name");
        bool namesOnly = parameters.Flag("namesOnly");
        int start = (int)Math.Min(parameters.Number("start", defaultValue: 0), int.MaxValue);
        int pageSize = (int)Math.Min(parameters.Number("pageSize", int.MaxValue), int.MaxValue);
        var indexes = ShownIndex
            .Named(context.Indexes, database, name is null ? [] : [name])
            .Where(static index => index.Status is not { IsReplacement: true })
            .ToList();
        return name is not null && indexes.Count == 0
            ? throw IndexCommand.Missing(name)
            : JsonResponse.SendAsync(
                http,
                json =>
                {
                    json.WriteStartArray("Results"u8);
                    foreach (var index in indexes.Skip(start).Take(pageSize))
                    {
                        if (namesOnly)
                        {
                            json.WriteStringValue(index.Name);
                        }
                        else
                        {
                            IndexDefinitionJson.Write(json, index);
                        }
                    }

                    json.WriteEndArray();
                }
            );
    }

    /// <summary>DELETE indexes?name=…: deletes an index on all members.</summary>
    public async Task DeleteAsync(HttpContext http, Database database)
    {
        string name = ReadName(http);
        var outcome = await IndexCommand.ProposeAsync(context, http, database, writer => writer.Delete(name));
        await (
            outcome[0].Status == OperationStatus.Deleted
                ? EmptyResponse.AnswerNoContent(http)
                : throw IndexCommand.Missing(name)
        );
    }

    /// <summary>
    /// RESET indexes?name=…: rebuilds an index from the beginning on this node. It is stale until it has caught up.
    /// </summary>
    public async Task ResetAsync(HttpContext http, Database database)
    {
        string name = ReadName(http);
        await IndexCommand.ActOnThisNodeAsync(
            context,
            http,
            database,
            name,
            () => context.Indexes.Reset(database, name)
        );
        await EmptyResponse.AnswerNoContent(http);
    }

    private static string ReadName(HttpContext http)
    {
        string name = new QueryParameters(http).RequiredText("name");
        return IndexRecord.NameProblem(name) is { } problem ? throw RefusedException.BadRequest(problem) : name;
    }
}
