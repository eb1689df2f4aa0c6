using System.Net;
using Rookery.Hosting.Machine;

namespace Rookery.Server.Tests;

/// <summary>Which of a machine's addresses a node announces.</summary>
public sealed class PeerAddressesTests
{
    private const string Lasting = "2001:db8::11";
    private const string Temporary = "2001:db8::8c5e:1";

    // /proc/net/if_inet6 of Linux: the second address has IFA_F_TEMPORARY.
    private const string Table = """
        20010db8000000000000000000000011 02 40 00 00     eth0
        20010db800000000000000008c5e0001 02 40 00 01     eth0
        fe8000000000000000fc00fffe000001 02 40 20 80     eth0
        00000000000000000000000000000001 01 80 10 80       lo
        """;

    private static readonly IPAddress[] Addresses =
    [
        IPAddress.Parse(Temporary),
        IPAddress.Parse(Lasting),
        IPAddress.Parse("fe80::fc:ff:fe00:1"),
        IPAddress.Parse("192.168.1.11"),
    ];

    [Fact]
    public void Temporary_and_link_local_addresses_are_not_announced() =>
        Assert.Equal(
            ["192.168.1.11:9443", $"[{Lasting}]:9443"],
            PeerAddresses.Of(new IPEndPoint(IPAddress.IPv6Any, 9443), Addresses, Table)
        );

    [Fact]
    public void A_node_on_all_IPv4_addresses_announces_only_IPv4_addresses() =>
        Assert.Equal(
            ["192.168.1.11:9443"],
            PeerAddresses.Of(new IPEndPoint(IPAddress.Any, 9443), Addresses, interfaceTable: string.Empty)
        );

    [Theory]
    [InlineData("")]
    [InlineData("junk\n20010db8 02 40 00 01 eth0\n20010db800000000000000008c5e0001 02 40 00 xx eth0\n\n")]
    public void An_unexpected_table_hides_no_address(string table) =>
        Assert.Equal(
            ["192.168.1.11:9443", $"[{Temporary}]:9443", $"[{Lasting}]:9443"],
            PeerAddresses.Of(new IPEndPoint(IPAddress.IPv6Any, 9443), Addresses, table)
        );
}
