using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Rookery.Server.Access;

namespace Rookery.Server;

/// <summary>Endpoint metadata: this route answers in diagnosis mode too, because it needs no documents.</summary>
public sealed class WithoutData
{
    /// <summary>The only instance.</summary>
    public static WithoutData Instance { get; } = new();

    private WithoutData() { }
}

/// <summary>How such routes are mapped.</summary>
internal static class WithoutDataRoutes
{
    /// <summary>
    /// Answers GET with <paramref name="handler"/>, and HEAD with its status and headers: watchdogs and load balancers
    /// ask that way.
    /// </summary>
    public static IEndpointConventionBuilder MapWithoutData(
        this IEndpointRouteBuilder routes,
        string pattern,
        RouteScope scope,
        RequestDelegate handler
    ) =>
        routes
            .MapMethods(pattern, [HttpMethods.Get, HttpMethods.Head], handler)
            .WithMetadata(WithoutData.Instance)
            .For(scope);
}

/// <summary>
/// Endpoint metadata: this route reads a body of any length that may pause (bulk insert, import). RavenDB's clients
/// send a heartbeat after 40 idle seconds, so the body may trickle; what it must not do is stop for good.
/// </summary>
public sealed class LongBody
{
    // A heartbeat is 22 bytes in 40 s; a tenth of a byte per second is below that and still ends
    // a connection that went silent early. It is an average: a silent client keeps its connection for longer the more
    // it sent, but no room, see LargeRequests.
    private static readonly MinDataRate Trickle = new(bytesPerSecond: 0.1, gracePeriod: TimeSpan.FromMinutes(3));

    /// <summary>The only instance.</summary>
    public static LongBody Instance { get; } = new();

    private LongBody() { }

    internal static void Allow(HttpContext http)
    {
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
        {
            size.MaxRequestBodySize = null;
        }

        if (http.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { } rate)
        {
            rate.MinDataRate = Trickle;
        }
    }
}
