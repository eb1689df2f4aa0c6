using System.Net;
using Rookery.Cluster.Joining;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Where a member says that it listens, told to whom it dials: a machine with several networks calls from the address
/// of one, and may listen on that of another. The packet: <c>[text …]</c>, each
/// <c>host:port</c>.
/// </summary>
internal static class PeerPlaces
{
    /// <summary>
    /// The most that are said and believed: with the longest names they fit a packet of a connection that carries no
    /// frames.
    /// </summary>
    public const int Most = 8;

    /// <summary>Reads a packet: those that may lead to who called from an address.</summary>
    /// <exception cref="PeerProtocolException">It is malformed.</exception>
    public static string[] Read(ReadOnlySpan<byte> body, IPAddress? from)
    {
        List<string> places = [];
        var reader = new WireReader(body);
        while (reader.Remaining > 0)
        {
            if (reader.TakeText() is { } place && places.Count < Most && LeadsTo(place, from))
            {
                places.Add(place);
            }
        }

        return [.. places];
    }

    /// <summary>
    /// Loopback leads to whom it comes from only, and link-local addresses lead nowhere without an interface, which
    /// only this end could name.
    /// </summary>
    private static bool LeadsTo(string place, IPAddress? from)
    {
        if (!MemberAddress.IsValid(place))
        {
            return false;
        }

        if (!IPAddress.TryParse(place.AsSpan(0, place.LastIndexOf(':')), out var host))
        {
            return true; // a name
        }

        host = host.IsIPv4MappedToIPv6 ? host.MapToIPv4() : host;
        bool isElsewhere = IPAddress.IsLoopback(host)
            ? from is null || !IPAddress.IsLoopback(from)
            : host.IsIPv6LinkLocal || host.GetAddressBytes() is [169, 254, _, _];
        return !isElsewhere
            && !host.Equals(IPAddress.Any)
            && !host.Equals(IPAddress.IPv6Any)
            && !host.IsIPv6Multicast
            && host.GetAddressBytes() is not [>= 224, _, _, _];
    }
}
