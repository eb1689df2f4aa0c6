using System.Net;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven.Cluster;

/// <summary>
/// Where a client reaches the members: in the form in which it asked this one, because that is what works where the
/// client is. Whoever asked by address gets addresses, by name (pi-1, pi-1.local, pi-1.example.org) names, by the
/// public URL public URLs. Another form than these is nobody's but this node's.
/// </summary>
/// <param name="http">The request.</param>
/// <param name="members">The members.</param>
internal sealed class NodeUrl(HttpContext http, IReadOnlyList<ClusterViewMember> members)
{
    private readonly HostString _asked = http.Request.Host;
    private readonly ClusterViewMember? _self = members.FirstOrDefault(static member => member.IsSelf);

    /// <summary>
    /// Whether the client asked at this node's public URL. The scheme may be another, when something before it speaks
    /// TLS.
    /// </summary>
    private bool IsPublic =>
        _self?.PublicUrl is { } known
        && new Uri(known) is var url
        && Uri.TryCreate($"{url.Scheme}://{_asked.Value}", UriKind.Absolute, out var asked)
        && string.Equals(url.Authority, asked.Authority, StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// The address by which the client reached this node: it works for the client whatever lies between.
    /// </summary>
    public static string Of(HttpContext http) => $"{http.Request.Scheme}://{http.Request.Host.Value}";

    /// <summary>Where the client reaches a member; null when nobody has said.</summary>
    public string? Of(ClusterViewMember member)
    {
        if (member.IsSelf)
        {
            return IsPublic ? member.PublicUrl : Of(http);
        }

        return IsPublic ? member.Url
            : IPAddress.TryParse(_asked.Host.Trim('[', ']'), out var address)
                ? Nearest(member.Urls, address) ?? member.PublicUrl
            : DomainAfter(_self?.Name) is { } domain && member.Urls.Count > 0 ? Named(member, domain)
            : member.Url;
    }

    /// <summary>
    /// What follows this node's name in the host that was asked: empty, ".local", ".example.org"; null when the host is
    /// no name of this node.
    /// </summary>
    private string? DomainAfter(string? name) =>
        name is { Length: > 0 }
        && _asked.Host.StartsWith(name, StringComparison.OrdinalIgnoreCase)
        && _asked.Host[name.Length..] is var domain
        && (domain.Length == 0 || domain[0] == '.')
            ? domain
            : null;

    private static string Named(ClusterViewMember member, string domain)
    {
        var listens = new Uri(member.Urls[0]);
        return $"{listens.Scheme}://{member.Name}{domain}:{listens.Port}";
    }

    /// <summary>
    /// Of a member's addresses the one in the nearest network to the one that was asked; an address of the other family
    /// only when there is no other.
    /// </summary>
    private static string? Nearest(IReadOnlyList<string> urls, IPAddress asked)
    {
        string? nearest = null;
        int longest = -2;
        foreach (string url in urls)
        {
            int common = CommonBits(IPAddress.Parse(new Uri(url).IdnHost), asked);
            if (common > longest)
            {
                (nearest, longest) = (url, common);
            }
        }

        return nearest;
    }

    private static int CommonBits(IPAddress one, IPAddress other)
    {
        if (one.AddressFamily != other.AddressFamily)
        {
            return -1;
        }

        var bytes = one.GetAddressBytes();
        var others = other.GetAddressBytes();
        int same = bytes.AsSpan().CommonPrefixLength(others);
        return same == bytes.Length ? same * 8 : (same * 8) + byte.LeadingZeroCount((byte)(bytes[same] ^ others[same]));
    }
}
