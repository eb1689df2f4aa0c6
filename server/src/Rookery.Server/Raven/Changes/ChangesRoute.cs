using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Changes;

/// <summary>GET changes, a WebSocket.</summary>
internal sealed class ChangesRoute(ServerContext context, OperationRegistry operations)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        if (!http.WebSockets.IsWebSocketRequest)
        {
            throw RefusedException.BadRequest(
                "This route is a WebSocket: ask with 'Connection: Upgrade' and 'Upgrade: websocket'. For plain "
                    + "HTTP there is the SSE feed, see GET /help."
            );
        }

        using var socket = await http.WebSockets.AcceptWebSocketAsync();
        using var batches = context.Indexes.SubscribeToBatches();
        using var connection = new ChangesConnection(
            socket,
            database,
            operations,
            batches,
            new FeedAccess(context, http),
            context.Time
        );
        await connection.RunAsync(context.Stopping);
    }
}
