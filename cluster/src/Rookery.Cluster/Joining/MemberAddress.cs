using System.Buffers;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Rookery.Cluster.Joining;

/// <summary>
/// Validates addresses at which members reach a member, <c>host:port</c>. Addresses from outside must be validated
/// before they are stored in records, tokens and identity files.
/// </summary>
public static class MemberAddress
{
    /// <summary>The maximum number of addresses of one member.</summary>
    public const int MaxAddresses = 16;

    /// <summary>The format, as a sentence for users.</summary>
    public const string Rule = "It looks like 192.168.1.12:9443, pi-2.lan:9443 or [fd00::2]:9443.";

    // Together with a port it fits a token's length byte; DNS permits 253 (RFC 1035 2.3.4).
    private const int MaxHostLength = 248;

    private static readonly SearchValues<char> HostCharacters = SearchValues.Create(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
    );

    private static readonly SearchValues<char> AddressCharacters = SearchValues.Create("0123456789abcdefABCDEF:.%");

    /// <summary>Whether a text is a valid address.</summary>
    public static bool IsValid(string? address)
    {
        int colon = address?.LastIndexOf(':') ?? -1;
        return colon > 0
            && IsHost(address.AsSpan(0, colon))
            && ushort.TryParse(
                address.AsSpan(colon + 1),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out ushort port
            )
            && port > 0;
    }

    /// <summary>
    /// Whether the host is the unspecified address, 0.0.0.0 or [::], which is only meaningful for listening.
    /// </summary>
    public static bool IsUnspecified(string address) =>
        IPAddress.TryParse(address.AsSpan(0, Math.Max(0, address.LastIndexOf(':'))), out var host)
        && (host.Equals(IPAddress.Any) || host.Equals(IPAddress.IPv6Any));

    /// <summary>Whether a text is a valid URL for clients: a scheme, a host and a port.</summary>
    public static bool IsClientUrl(string url) =>
        Uri.TryCreate(url, UriKind.Absolute, out var parsed)
        && parsed is { Scheme: "http" or "https", PathAndQuery: "/", UserInfo: "", Fragment: "" }
        && IsHost(parsed.Host);

    private static bool IsHost(ReadOnlySpan<char> host)
    {
        if (host.Length > MaxHostLength)
        {
            return false;
        }

        if (host is ['[', .. var inside, ']'])
        {
            return IPAddress.TryParse(inside, out var address)
                && address.AddressFamily == AddressFamily.InterNetworkV6
                && !inside.ContainsAnyExcept(AddressCharacters);
        }

        return host.Length > 0 && !host.ContainsAnyExcept(HostCharacters) && host[0] is not ('.' or '-');
    }
}
