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
        routes.MapGet("/databases/{database}/export", RavenRoute.OnFreshDatabase(context, (http, database) => AnswerAsync(http, database, context)))
            .For(RouteScope.Read).Taking(RavenParameters.Read);

    private static async Task AnswerAsync(HttpContext http, Database database, ServerContext context)
    {
        using var export = new NdjsonExport(database);
        using var answer = new DocumentAnswer(http, context.LargeRequests, ContentType);
        var turns = new WorkTurns(context, http);
        while (export.MoveNext())
        {
            await turns.TakeAsync();
            if (await answer.HasRoomAsync(export.Length, export.StepBack))
            {
                export.Write(answer.Buffer);
                await answer.SendWhenDueAsync(export.Pause);
            }
        }

        await answer.SendAsync();
    }
}
