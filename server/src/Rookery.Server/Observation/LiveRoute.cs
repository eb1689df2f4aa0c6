using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Observation;

/// <summary>
/// GET /dashboard/live: Server-Sent Events, one a second, each with the state of the whole cluster as this node knows
/// it. It needs neither a leader nor open data.
/// </summary>
internal static class LiveRoute
{
    private const string ContentType = "text/event-stream; charset=utf-8";
    private static readonly TimeSpan KeepAliveInterval = TimeSpan.FromSeconds(15);

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var stream = new LiveStream(context);
        routes
            .MapWithoutData(
                "/dashboard/live",
                RouteScope.Metrics,
                http =>
                    HttpMethods.IsHead(http.Request.Method) ? AnswerHeadAsync(http) : AnswerAsync(http, context, stream)
            )
            .Taking(RouteParameters.None);
    }

    private static Task AnswerHeadAsync(HttpContext http)
    {
        http.Response.ContentType = ContentType;
        return Task.CompletedTask;
    }

    private static async Task AnswerAsync(HttpContext http, ServerContext context, LiveStream stream)
    {
        using var listener = stream.TryListen(http.Features.Get<Principal>()?.Name, out string refusal);
        if (listener is null)
        {
            http.Response.Headers.RetryAfter = "10";
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status429TooManyRequests,
                ErrorResponse.RavenException,
                refusal
            );
            return;
        }

        using var linked = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        http.Response.ContentType = ContentType;
        http.Response.Headers.CacheControl = "no-store";
        var access = new FeedAccess(context, http);
        while (true)
        {
            byte[]? state = await listener.NextAsync(KeepAliveInterval, context.Time, linked.Token);
            if (access.WhyEndedCached() is { } reason)
            {
                await EndAsync(http, reason);
                return;
            }

            // If there is no new state, an empty comment is written: the write detects a client that has left silently.
            await http.Response.BodyWriter.WriteAsync(state ?? ": \n\n"u8.ToArray(), linked.Token);
        }
    }

    private static async Task EndAsync(HttpContext http, string reason)
    {
        using var answer = ResponseBuffer.Rent();
        answer.Write("event: end\ndata: "u8);
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartObject();
            json.WriteString("Reason"u8, reason);
            json.WriteEndObject();
        }

        answer.Write("\n\n"u8);
        await answer.SendPartAsync(http, pause: null, ContentType);
    }
}
