using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Rookery.Hosting.Machine;

/// <summary>Where others may reach this machine.</summary>
public static class PeerAddresses
{
    /// <summary>
    /// The address that is listened on; where that is any, the addresses of this machine that leave it.
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

    /// <summary>The addresses of this machine that leave it.</summary>
    public static IEnumerable<IPAddress> OfThisMachine() =>
        from card in NetworkInterface.GetAllNetworkInterfaces()
        where
            card.OperationalStatus == OperationalStatus.Up && card.NetworkInterfaceType != NetworkInterfaceType.Loopback
        from unicast in card.GetIPProperties().UnicastAddresses
        where !IPAddress.IsLoopback(unicast.Address)
        select unicast.Address;
}
