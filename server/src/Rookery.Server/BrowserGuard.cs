using System.Net;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// Keeps web pages of others away from a node. A page of any site may make its visitor's browser send requests to 127.0.0.1: as a plain POST, as a WebSocket, or
/// under a name of its own that it lets point there (DNS rebinding). So a node that listens on loopback in plain HTTP answers only to names of loopback, and no node answers pages of
/// others: a browser sends its client certificate for them as well.
/// </summary>
internal sealed class BrowserGuard(ServerOptions options)
{
    private readonly bool isLocal = !options.IsSecure && IPAddress.IsLoopback(options.Listen.Address);

    // Nearly all requests name the host that the last one named: then one comparison is enough.
    private volatile string? lastGoodHost;

    /// <summary>Why a request is refused, in a sentence; null when it is not.</summary>
    public string? Problem(HttpRequest request)
    {
        if (isLocal && !IsLoopback(request.Host))
        {
            return $"This node serves only this machine, and so answers to 127.0.0.1 and localhost, not to '{request.Host.Value}'. Use one of them, or start it with --insecure and an address beyond loopback.";
        }

        var headers = request.Headers;
        if (headers.Origin.Count > 0 && !IsOwn(headers.Origin.ToString(), request))
        {
            return $"A page of {headers.Origin} asked, and pages of others may not use this node.";
        }

        // Sent by browsers, and not for scripts to change; "same-site" is another port of this machine, and some requests of such a page carry no Origin. Following a link is no harm.
        bool isForeign = headers["Sec-Fetch-Site"].ToString() is "cross-site" or "same-site" && headers["Sec-Fetch-Mode"].ToString() is not "navigate";
        return isForeign ? "A page of another site asked, and pages of others may not use this node." : null;
    }

    private static bool IsOwn(string origin, HttpRequest request) =>
        Uri.TryCreate(origin, UriKind.Absolute, out var page)
        && Uri.TryCreate($"{page.Scheme}://{request.Host.Value}", UriKind.Absolute, out var own)
        && page.Authority.Equals(own.Authority, StringComparison.OrdinalIgnoreCase);

    private bool IsLoopback(HostString host)
    {
        // HTTP/1.0 needs no Host; browsers always send one.
        if (!host.HasValue || string.Equals(host.Value, lastGoodHost, StringComparison.Ordinal))
        {
            return true;
        }

        string name = host.Host;
        bool isLoopback = name.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(name.AsSpan().Trim("[]"), out var address) && IPAddress.IsLoopback(address));
        if (isLoopback)
        {
            lastGoodHost = host.Value;
        }

        return isLoopback;
    }
}
