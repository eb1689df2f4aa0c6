using System.Net;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Access;

namespace Rookery.Server;

/// <summary>
/// Refuses requests that pages of other sites make in a visitor's browser. Any site can send requests to 127.0.0.1: as
/// a plain POST, as a WebSocket, or by a host name that it resolves to that address (DNS rebinding). So a node that
/// listens on loopback in plain HTTP answers only requests whose Host is a loopback name. No node answers requests of
/// other sites' pages, because a browser attaches its client certificate to them too.
/// </summary>
internal sealed class BrowserGuard(ServerOptions options)
{
    private static readonly PathString PageOfMetrics = "/metrics";

    private readonly bool _isLocal = !options.IsSecure && IPAddress.IsLoopback(options.Listen.Address);

    // Nearly all requests name the same host as the previous one; then one comparison is enough.
    private volatile string? _lastGoodHost;

    /// <summary>Returns why a request is refused, in one sentence; null if it is not.</summary>
    /// <param name="request">The request.</param>
    /// <param name="scope">Scope of its route; null if no route matches.</param>
    public string? Problem(HttpRequest request, RouteScope? scope)
    {
        if (!AllowsHost(request.Host))
        {
            return $"This node serves only this machine, and so answers to 127.0.0.1 and localhost, not to "
                + $"'{request.Host.Value}'. Use one of them, or start it with --insecure and an address beyond "
                + $"loopback.";
        }

        var headers = request.Headers;
        if (headers.Origin.Count > 0 && !IsOwn(headers.Origin.ToString(), request))
        {
            return $"A page of {headers.Origin} sent the request, and pages of other sites may not use this node.";
        }

        return IsForeign(headers, request) && !MayBeLinked(headers, request, scope)
            ? "A page of another site sent the request, and such pages may not use this node."
            : null;
    }

    /// <summary>Whether requests that name this host may be answered.</summary>
    public bool AllowsHost(HostString host) => !_isLocal || IsLoopback(host);

    // Browsers send Sec-Fetch-Site, and scripts cannot change it; "same-site" includes another port of this machine.
    // Some requests carry no Origin, and older browsers send only the Referer.
    private bool IsForeign(IHeaderDictionary headers, HttpRequest request) =>
        headers["Sec-Fetch-Site"].ToString() switch
        {
            "" => headers.Referer.Count > 0 && !IsOwn(headers.Referer.ToString(), request),
            "cross-site" or "same-site" => true,
            _ => false,
        };

    // Following a link to a page for people is harmless. Other GET requests have effects: they assign numbers, occupy
    // slots, or build packages. A page with a few frames could take all slots of the live view.
    private static bool MayBeLinked(IHeaderDictionary headers, HttpRequest request, RouteScope? scope)
    {
        bool isNavigation = headers["Sec-Fetch-Site"].Count == 0 || headers["Sec-Fetch-Mode"].ToString() is "navigate";
        bool isRead = HttpMethods.IsGet(request.Method) || HttpMethods.IsHead(request.Method);
        return isNavigation
            && isRead
            && (scope == RouteScope.Open || (scope == RouteScope.Metrics && request.Path == PageOfMetrics));
    }

    // A node with TLS serves its page with TLS, so a page of its host in plain HTTP is another program's, or was
    // changed on the way. Before a node without TLS there may be a proxy with TLS.
    private bool IsOwn(string origin, HttpRequest request) =>
        Uri.TryCreate(origin, UriKind.Absolute, out var page)
        && (!options.IsSecure || string.Equals(page.Scheme, Uri.UriSchemeHttps, StringComparison.Ordinal))
        && Uri.TryCreate($"{page.Scheme}://{request.Host.Value}", UriKind.Absolute, out var own)
        && page.Authority.Equals(own.Authority, StringComparison.OrdinalIgnoreCase);

    private bool IsLoopback(HostString host)
    {
        // HTTP/1.0 needs no Host; browsers always send one.
        if (!host.HasValue || string.Equals(host.Value, _lastGoodHost, StringComparison.Ordinal))
        {
            return true;
        }

        string name = host.Host;
        bool isLoopback =
            name.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(name.AsSpan().Trim("[]"), out var address) && IPAddress.IsLoopback(address));
        if (isLoopback)
        {
            _lastGoodHost = host.Value;
        }

        return isLoopback;
    }
}
