using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Rookery.Hosting.Machine;

/// <summary>The addresses at which other machines may reach this one.</summary>
public static class PeerAddresses
{
    /// <summary>
    /// Returns the address that a node listens on, with its port. For a wildcard address, returns the addresses of this
    /// machine that other machines can reach, those of IPv4 first.
    /// </summary>
    public static IReadOnlyList<string> Of(IPEndPoint listen)
    {
        if (!listen.Address.Equals(IPAddress.Any) && !listen.Address.Equals(IPAddress.IPv6Any))
        {
            return [listen.ToString()];
        }

        var addresses =
            from address in OfThisMachine()
            where
                address.AddressFamily == AddressFamily.InterNetwork
                || (listen.Address.Equals(IPAddress.IPv6Any) && !address.IsIPv6LinkLocal)
            orderby address.AddressFamily == AddressFamily.InterNetwork ? 0 : 1
            select new IPEndPoint(address, listen.Port).ToString();
        return [.. addresses];
    }

    /// <summary>Returns the addresses of this machine on all interfaces that are up, except loopback.</summary>
    public static IEnumerable<IPAddress> OfThisMachine() =>
        from networkInterface in NetworkInterface.GetAllNetworkInterfaces()
        where
            networkInterface.OperationalStatus == OperationalStatus.Up
            && networkInterface.NetworkInterfaceType != NetworkInterfaceType.Loopback
        from unicast in networkInterface.GetIPProperties().UnicastAddresses
        where !IPAddress.IsLoopback(unicast.Address)
        select unicast.Address;
}
