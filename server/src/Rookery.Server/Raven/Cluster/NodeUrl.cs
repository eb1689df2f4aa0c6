using System.Net;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven.Cluster;

/// <summary>
/// Finds the URLs under which a client can reach the members, in the form in which it reached this node: a request to
/// an address gets addresses, a request to a name (pi-1, pi-1.local, pi-1.example.org) gets names, a request to the
/// public URL gets public URLs. For any other host only this node's URL is known to work.
/// </summary>
/// <param name="http">The request.</param>
/// <param name="members">The members.</param>
internal sealed class NodeUrl(HttpContext http, IReadOnlyList<ClusterViewMember> members)
{
    private readonly HostString _requestedHost = http.Request.Host;
    private readonly ClusterViewMember? _self = members.FirstOrDefault(static member => member.IsSelf);

    /// <summary>
    /// Whether the client used this node's public URL. The scheme may differ if a proxy terminates TLS.
    /// </summary>
    private bool IsPublic =>
        _self?.PublicUrl is { } known
        && new Uri(known) is var url
        && Uri.TryCreate($"{url.Scheme}://{_requestedHost.Value}", UriKind.Absolute, out var requested)
        && string.Equals(url.Authority, requested.Authority, StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// Returns the URL by which the client reached this node. It works for the client even through a proxy.
    /// </summary>
    public static string Of(HttpContext http) => $"{http.Request.Scheme}://{http.Request.Host.Value}";

    /// <summary>Returns the URL of a member for this client; null if none is known.</summary>
    public string? Of(ClusterViewMember member)
    {
        if (member.IsSelf)
        {
            return IsPublic ? member.PublicUrl : Of(http);
        }

        if (IsPublic)
        {
            return member.Url;
        }

        if (IPAddress.TryParse(_requestedHost.Host.Trim('[', ']'), out var address))
        {
            return FindNearest(member.Urls, address) ?? member.PublicUrl;
        }

        if (DomainAfter(_self?.Name) is { } domain && member.Urls.Count > 0)
        {
            return UrlByName(member, domain);
        }

        return member.Url;
    }

    /// <summary>
    /// Returns what follows this node's name in the requested host: empty, ".local", ".example.org"; null if the host
    /// is not a name of this node.
    /// </summary>
    private string? DomainAfter(string? name) =>
        name is { Length: > 0 }
        && _requestedHost.Host.StartsWith(name, StringComparison.OrdinalIgnoreCase)
        && _requestedHost.Host[name.Length..] is var domain
        && (domain.Length == 0 || domain[0] == '.')
            ? domain
            : null;

    private static string UrlByName(ClusterViewMember member, string domain)
    {
        var listens = new Uri(member.Urls[0]);
        return $"{listens.Scheme}://{member.Name}{domain}:{listens.Port}";
    }

    /// <summary>
    /// Returns the URL whose address shares the longest prefix with the requested address. An address of the other
    /// family (IPv4 or IPv6) is returned only if none is of the same family.
    /// </summary>
    private static string? FindNearest(IReadOnlyList<string> urls, IPAddress requested)
    {
        string? nearest = null;
        int longest = -2; // below the -1 of the other address family
        foreach (string url in urls)
        {
            int common = CommonBits(IPAddress.Parse(new Uri(url).IdnHost), requested);
            if (common > longest)
            {
                (nearest, longest) = (url, common);
            }
        }

        return nearest;
    }

    /// <summary>Returns the length of the common prefix in bits; -1 for addresses of two families.</summary>
    private static int CommonBits(IPAddress first, IPAddress second)
    {
        if (first.AddressFamily != second.AddressFamily)
        {
            return -1;
        }

        var bytes = first.GetAddressBytes();
        var others = second.GetAddressBytes();
        int equalBytes = bytes.AsSpan().CommonPrefixLength(others);
        return equalBytes == bytes.Length
            ? equalBytes * 8
            : (equalBytes * 8) + byte.LeadingZeroCount((byte)(bytes[equalBytes] ^ others[equalBytes]));
    }
}
