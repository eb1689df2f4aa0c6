using System.Globalization;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>The addresses at which other machines may reach this one.</summary>
public static class PeerAddresses
{
    private const string InterfaceTable = "/proc/net/if_inet6";

    // The columns of the table: address, interface, prefix length, scope, flags, name.
    private const int FlagsColumn = 4;

    // IFA_F_TEMPORARY of Linux, as the table has it in its flags.
    private const int TemporaryFlag = 0x01;

    private const int AddressBytes = 16;

    /// <summary>
    /// Returns the address that a node listens on, with its port. For a wildcard address, returns the addresses of this
    /// machine that other machines can reach, those of IPv4 first.
    /// </summary>
    public static IReadOnlyList<string> Of(IPEndPoint listen)
    {
        bool isWildcard = listen.Address.Equals(IPAddress.Any) || listen.Address.Equals(IPAddress.IPv6Any);
        return isWildcard
            ? Of(listen, OfThisMachine(), KernelTable.Read(new PosixDisk(), InterfaceTable))
            : [listen.ToString()];
    }

    /// <summary>
    /// Returns which of a machine's addresses a node that listens on a wildcard address announces. Temporary IPv6
    /// addresses (RFC 8981) are left out: they expire within days, and others would dial them afterwards.
    /// </summary>
    /// <param name="listen">The wildcard address and the port.</param>
    /// <param name="addresses">The machine's addresses.</param>
    /// <param name="interfaceTable">The text of <c>/proc/net/if_inet6</c>; empty without IPv6.</param>
    internal static IReadOnlyList<string> Of(IPEndPoint listen, IEnumerable<IPAddress> addresses, string interfaceTable)
    {
        var temporary = TemporaryIn(interfaceTable);
        var announced =
            from address in addresses
            where
                address.AddressFamily == AddressFamily.InterNetwork
                || (
                    listen.Address.Equals(IPAddress.IPv6Any)
                    && !address.IsIPv6LinkLocal
                    && !temporary.Contains(new IPAddress(address.GetAddressBytes()))
                )
            orderby address.AddressFamily == AddressFamily.InterNetwork ? 0 : 1
            select new IPEndPoint(address, listen.Port).ToString();
        return [.. announced];
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

    // .NET does not tell on Linux which addresses are temporary.
    private static HashSet<IPAddress> TemporaryIn(string interfaceTable)
    {
        HashSet<IPAddress> temporary = [];
        foreach (string line in interfaceTable.Split('\n'))
        {
            string[] columns = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (
                columns.Length > FlagsColumn
                && columns[0].Length == 2 * AddressBytes
                && int.TryParse(
                    columns[FlagsColumn],
                    NumberStyles.AllowHexSpecifier,
                    CultureInfo.InvariantCulture,
                    out int flags
                )
                && (flags & TemporaryFlag) != 0
            )
            {
                temporary.Add(new IPAddress(Convert.FromHexString(columns[0])));
            }
        }

        return temporary;
    }
}
