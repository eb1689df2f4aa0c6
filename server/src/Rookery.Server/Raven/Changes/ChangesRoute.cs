using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Changes;

/// <summary>GET changes: the WebSocket on which RavenDB's clients listen to changes.</summary>
internal sealed class ChangesRoute(ServerContext context, OperationRegistry operations)
{
    // Estimate for a client that reads nothing: up to 4,096 changes and as many index batches queue until it is
    // disconnected.
    private const int BytesPerListener = 256 << 10;

    private readonly int _maxListeners = (int)Math.Clamp(context.Memory.TotalBytes / 8 / BytesPerListener, 64, 4096);
    private int _listeners;

    public async Task HandleAsync(HttpContext http, Database database)
    {
        if (!http.WebSockets.IsWebSocketRequest)
        {
            throw RefusedException.BadRequest(
                "This route is a WebSocket: ask with 'Connection: Upgrade' and 'Upgrade: websocket'. For plain "
                    + "HTTP there is the SSE feed, see GET /help."
            );
        }

        try
        {
            if (Interlocked.Increment(ref _listeners) > _maxListeners)
            {
                http.Response.Headers.RetryAfter = "10";
                throw new RefusedException(
                    StatusCodes.Status429TooManyRequests,
                    RavenType.RavenException,
                    $"{_maxListeners} clients listen to changes on this node already, the maximum that its "
                        + $"memory allows. Listen on another node, or share one connection."
                );
            }

            await ListenAsync(http, database);
        }
        finally
        {
            Interlocked.Decrement(ref _listeners);
        }
    }

    private async Task ListenAsync(HttpContext http, Database database)
    {
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
