using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents;
using Rookery.Server.Raven;

namespace Rookery.Server;

/// <summary>GET /databases/{database}/export: all documents, one a line.</summary>
internal static class ExportRoute
{
    private const string ContentType = "application/x-ndjson; charset=utf-8";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes.MapGet("/databases/{database}/export", RavenRoute.OnFreshDatabase(context, AnswerAsync));

    private static async Task AnswerAsync(HttpContext http, Database database)
    {
        using var export = new NdjsonExport(database);
        using var answer = AnswerBuffer.Rent();
        while (export.WriteNext(answer))
        {
            if (answer.IsPartDue)
            {
                await answer.SendPartAsync(http, export.Pause, ContentType);
            }
        }

        await answer.SendPartAsync(http, export.Pause, ContentType);
    }
}
