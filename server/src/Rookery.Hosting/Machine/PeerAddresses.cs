using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Rookery.Hosting.Machine;

/// <summary>Where others may reach this machine.</summary>
public static class PeerAddresses
{
    /// <summary>
    /// The address that is listened on; for a wildcard, those of this machine that are reachable from other machines.
    /// </summary>
    public static IReadOnlyList<string> Of(IPEndPoint listen)
    {
        if (!listen.Address.Equals(IPAddress.Any) && !listen.Address.Equals(IPAddress.IPv6Any))
        {
            return [listen.ToString()];
        }

        var found =
            from address in OfThisMachine()
            where
                address.AddressFamily == AddressFamily.InterNetwork
                || (listen.Address.Equals(IPAddress.IPv6Any) && !address.IsIPv6LinkLocal)
            select new IPEndPoint(address, listen.Port).ToString();
        return [.. found];
    }

    /// <summary>The addresses of this machine that are reachable from other machines.</summary>
    public static IEnumerable<IPAddress> OfThisMachine() =>
        from networkInterface in NetworkInterface.GetAllNetworkInterfaces()
        where
            networkInterface.OperationalStatus == OperationalStatus.Up
            && networkInterface.NetworkInterfaceType != NetworkInterfaceType.Loopback
        from unicast in networkInterface.GetIPProperties().UnicastAddresses
        where !IPAddress.IsLoopback(unicast.Address)
        select unicast.Address;
}
