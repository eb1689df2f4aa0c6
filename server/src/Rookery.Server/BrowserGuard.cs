using System.Net;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Access;

namespace Rookery.Server;

/// <summary>
/// Keeps web pages of others away from a node. A page of any site may make its visitor's browser send requests to
/// 127.0.0.1: as a plain POST, as a WebSocket, or under a name of its own that it lets point there (DNS rebinding). So
/// a node that listens on loopback in plain HTTP answers only to names of loopback, and no node answers pages of
/// others: a browser sends its client certificate for them as well.
/// </summary>
internal sealed class BrowserGuard(ServerOptions options)
{
    private readonly bool _isLocal = !options.IsSecure && IPAddress.IsLoopback(options.Listen.Address);

    // Nearly all requests name the host that the last one named: then one comparison is enough.
    private volatile string? _lastGoodHost;

    /// <summary>Why a request is refused, in a sentence; null when it is not.</summary>
    /// <param name="request">The request.</param>
    /// <param name="scope">Who may use its route; null when there is none.</param>
    public string? Problem(HttpRequest request, RouteScope? scope)
    {
        if (_isLocal && !IsLoopback(request.Host))
        {
            return $"This node serves only this machine, and so answers to 127.0.0.1 and localhost, not to "
                + $"'{request.Host.Value}'. Use one of them, or start it with --insecure and an address beyond "
                + $"loopback.";
        }

        var headers = request.Headers;
        if (headers.Origin.Count > 0 && !IsOwn(headers.Origin.ToString(), request))
        {
            return $"A page of {headers.Origin} asked, and pages of others may not use this node.";
        }

        return IsForeign(headers, request) && !MayBeLinked(headers, request, scope)
            ? "A page of another site asked, and pages of others may not use this node."
            : null;
    }

    // Sent by browsers, and not for scripts to change; "same-site" is another port of this machine, and some requests
    // of such a page carry no Origin. Browsers that do not send it name the
    // page that they come from.
    private static bool IsForeign(IHeaderDictionary headers, HttpRequest request) =>
        headers["Sec-Fetch-Site"].ToString() switch
        {
            "" => headers.Referer.Count > 0 && !IsOwn(headers.Referer.ToString(), request),
            "cross-site" or "same-site" => true,
            _ => false,
        };

    // Following a link to what people look at is no harm. Some other GET requests do something: they give numbers
    // away, take places, make packages.
    private static bool MayBeLinked(IHeaderDictionary headers, HttpRequest request, RouteScope? scope)
    {
        bool isNavigation = headers["Sec-Fetch-Site"].Count == 0 || headers["Sec-Fetch-Mode"].ToString() is "navigate";
        bool isRead = HttpMethods.IsGet(request.Method) || HttpMethods.IsHead(request.Method);
        return isNavigation && isRead && (scope == RouteScope.Open || scope == RouteScope.Metrics);
    }

    private static bool IsOwn(string origin, HttpRequest request) =>
        Uri.TryCreate(origin, UriKind.Absolute, out var page)
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
