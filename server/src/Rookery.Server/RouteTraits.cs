using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Rookery.Server.Access;

namespace Rookery.Server;

/// <summary>Endpoint metadata: the route needs no documents, so it also answers in diagnosis mode.</summary>
public sealed class WithoutData
{
    /// <summary>The only instance.</summary>
    public static WithoutData Instance { get; } = new();

    private WithoutData() { }
}

/// <summary>Maps routes that need no documents.</summary>
internal static class WithoutDataRoutes
{
    /// <summary>
    /// Answers GET with <paramref name="handler"/>, and HEAD with its status and headers: watchdogs and load balancers
    /// use HEAD.
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
/// Endpoint metadata: the route reads a body of any length that may pause (bulk insert, import). A slow body is
/// accepted, because RavenDB's clients send a heartbeat after 40 idle seconds; a body that stops for good is not.
/// </summary>
public sealed class LongBody
{
    // A heartbeat has 22 bytes in 40 s. The minimum of a tenth of a byte per second is below that, and still ends a
    // connection that goes silent early. It is an average over the whole body: a client that has sent much may be
    // silent for long, but holds no room meanwhile (see LargeRequests).
    private static readonly MinDataRate MinimumRate = new(bytesPerSecond: 0.1, gracePeriod: TimeSpan.FromMinutes(3));

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
            rate.MinDataRate = MinimumRate;
        }
    }
}
