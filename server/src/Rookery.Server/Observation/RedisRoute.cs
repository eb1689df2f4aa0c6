using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Observation;

/// <summary>
/// GET /dashboard/redis[?node=TAG]: whether a node serves Redis clients, where, and what they do. It works without open
/// data, because clients are then refused with the reason.
/// </summary>
internal static class RedisRoute
{
    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapWithoutData(
                "/dashboard/redis",
                RouteScope.Metrics,
                http =>
                    JsonResponse.SendAsync(
                        http,
                        json =>
                        {
                            var state = context.ReadRedis();
                            json.WriteString("Node"u8, context.Options.NodeTag);
                            json.WriteBoolean("IsOn"u8, state is not null);
                            state?.WriteMembers(json);
                        }
                    )
            )
            .OnAnyMember();
}
