using System.Net;
using Rookery.Cluster.Joining;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The packet in which a dialling member announces the addresses at which it listens. A machine with several networks
/// may dial from one network and listen on another. Layout: <c>[text …]</c>, each <c>host:port</c>.
/// </summary>
internal static class AnnouncedAddresses
{
    /// <summary>
    /// The maximum number of addresses. Even with the longest names they fit into a packet of a control connection.
    /// </summary>
    public const int MaxAddresses = 8;

    /// <summary>Reads a packet. Returns the addresses that can lead to a caller at <paramref name="from"/>.</summary>
    /// <exception cref="PeerProtocolException">The packet is malformed.</exception>
    public static string[] Read(ReadOnlySpan<byte> body, IPAddress? from)
    {
        List<string> addresses = [];
        var reader = new WireReader(body);
        while (reader.Remaining > 0)
        {
            if (reader.TakeText() is { } address && addresses.Count < MaxAddresses && LeadsTo(address, from))
            {
                addresses.Add(address);
            }
        }

        return [.. addresses];
    }

    /// <summary>
    /// Whether an address can lead to the dialling member. A loopback address can do so only if the member dialled
    /// from loopback. A link-local address never can, because it names no interface of this machine.
    /// </summary>
    private static bool LeadsTo(string address, IPAddress? from)
    {
        if (!MemberAddress.IsValid(address))
        {
            return false;
        }

        if (!IPAddress.TryParse(address.AsSpan(0, address.LastIndexOf(':')), out var host))
        {
            return true; // a name
        }

        host = host.IsIPv4MappedToIPv6 ? host.MapToIPv4() : host;
        // 169.254.0.0/16 is link-local (RFC 3927).
        bool isElsewhere = IPAddress.IsLoopback(host)
            ? from is null || !IPAddress.IsLoopback(from)
            : host.IsIPv6LinkLocal || host.GetAddressBytes() is [169, 254, _, _];

        // From 224.0.0.0 on, IPv4 addresses are multicast or reserved.
        return !isElsewhere
            && !host.Equals(IPAddress.Any)
            && !host.Equals(IPAddress.IPv6Any)
            && !host.IsIPv6Multicast
            && host.GetAddressBytes() is not [>= 224, _, _, _];
    }
}
