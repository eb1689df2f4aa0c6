using System.Net;
using Rookery.Board.Doctor;

namespace Rookery.Board.Tests.Doctor;

/// <summary>
/// Parses what the doctor reads about the network: tables of the kernel, and the outputs of ip and avahi-browse.
/// </summary>
public sealed class NetworkTablesTests
{
    /// <summary>/proc/net/route of a Pi with cable and Wi-Fi.</summary>
    private const string Routes = """
        Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT                                                       
        wlan0	00000000	0102A8C0	0003	0	0	600	00000000	0	0	0                                                                              
        eth0	00000000	0101A8C0	0003	0	0	100	00000000	0	0	0                                                                               
        eth0	0001A8C0	00000000	0001	0	0	100	00FFFFFF	0	0	0                                                                               
        """;

    /// <summary>/proc/net/ipv6_route of the same Pi; the last route, of lo, rejects everything else.</summary>
    private const string Routes6 = """
        fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000002 00000600 00000001 00000000 00000003    wlan0
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
        """;

    private const string Neighbours = """
        [{"dst":"192.168.1.1","dev":"eth0","lladdr":"dc:a6:32:00:00:01","state":["REACHABLE"]},
         {"dst":"192.168.1.5","dev":"eth0","lladdr":"dc:a6:32:00:00:05","state":["DELAY"]},
         {"dst":"192.168.1.9","dev":"wlan0","state":["FAILED"]},
         {"dst":"192.168.1.7","dev":"eth0","state":["FAILED"]},
         {"dst":"192.168.1.7","dev":"wlan0","lladdr":"dc:a6:32:00:00:07","state":["STALE"]},
         {"dst":"fe80::1","dev":"eth0","lladdr":"dc:a6:32:00:00:01","router":null,"state":["REACHABLE"]}]
        """;

    private const string Sockets = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     
           0: 00000000:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20731 1 0000000000000000 100 0 0 10 0                     
           1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 20800 1 0000000000000000 20 4 30 10 -1                    
          sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000   113        0 2104 1 0000000000000000 100 0 0 10 0
           1: 0000000000000000FFFF00000701A8C0:24E3 0000000000000000FFFF00000801A8C0:C350 01 00000000:00000000 00:00000000 00000000   113        0 2105 1 0000000000000000 100 0 0 10 0
           2: nonsense
        """;

    private const string Browsed = """
        +;eth0;IPv4;rookery-abc123;_rookery._tcp;local
        =;eth0;IPv4;rookery-abc123;_rookery._tcp;local;rookery-abc123.local;192.168.1.7;443;"forming=0af3" "peers=9443" "state=member" "name=pi-1" "node=nodenodenodenodenode01" "cluster=clustercluster01"
        =;eth0;IPv4;rookery\032two;_rookery._tcp;local;rookery-two.local;192.168.1.8;443;"peers=many" "state=unclaimed"
        =;wlan0;IPv4;rookery-abc123;_rookery._tcp;local;rookery-abc123.local;192.168.1.7;443;"forming=0af3" "peers=9443" "state=member" "name=pi-1" "node=nodenodenodenodenode01" "cluster=clustercluster01"
        =;eth0;IPv4;broken;_rookery._tcp;local;broken.local;nowhere;443;
        """;

    [Fact]
    public void The_default_gateway_is_the_IPv4_one_of_the_least_metric_or_else_an_IPv6_one()
    {
        Assert.Equal("192.168.1.1", NetworkTables.DefaultGateway(Routes, Routes6));
        Assert.Equal("fe80::1%eth0", NetworkTables.DefaultGateway(string.Empty, Routes6));
    }

    [Theory]
    [InlineData("")]
    [InlineData("Iface\tDestination\tGateway\neth0\tnonsense\n")]
    [InlineData("Iface\nlo\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n")]
    public void Without_a_default_route_there_is_no_gateway(string routes) =>
        Assert.Null(NetworkTables.DefaultGateway(routes, routes));

    [Theory]
    [InlineData("192.168.1.1", Neighbour.Present)]
    [InlineData("fe80::1", Neighbour.Present)]
    [InlineData("192.168.1.5", Neighbour.Unsettled)]
    [InlineData("192.168.1.7", Neighbour.Unsettled)]
    [InlineData("192.168.1.9", Neighbour.Absent)]
    [InlineData("192.168.1.2", Neighbour.Absent)]
    public void A_neighbour_is_present_when_the_kernel_has_heard_it_lately(string address, Neighbour found) =>
        Assert.Equal(found, NetworkTables.NeighbourAt(Neighbours, IPAddress.Parse(address)));

    [Theory]
    [InlineData("")]
    [InlineData("{}")]
    [InlineData("[7]")]
    [InlineData("""[{"dst":"192.168.1.1"},{"dst":"192.168.1.1","state":"REACHABLE"}]""")]
    [InlineData("""[{"dst":"192.168.1.1","state":[]}]""")]
    public void A_malformed_table_of_neighbours_lists_no_neighbour(string neighbours) =>
        Assert.Equal(Neighbour.Absent, NetworkTables.NeighbourAt(neighbours, IPAddress.Parse("192.168.1.1")));

    [Fact]
    public void Only_listening_sockets_occupy_a_port() =>
        Assert.Equal(
            [IPEndPoint.Parse("0.0.0.0:443"), IPEndPoint.Parse("[::1]:8080")],
            NetworkTables.Listeners(Sockets)
        );

    [Fact]
    public void Connections_are_listed_with_both_ends_and_IPv4_addresses_as_IPv4() =>
        Assert.Equal(
            [
                (IPEndPoint.Parse("127.0.0.1:8080"), IPEndPoint.Parse("127.0.0.1:50000")),
                (IPEndPoint.Parse("192.168.1.7:9443"), IPEndPoint.Parse("192.168.1.8:50000")),
            ],
            NetworkTables.Connections(Sockets)
        );

    [Fact]
    public void Each_announced_node_is_found_once() =>
        Assert.Equal(
            [
                new MdnsService("192.168.1.7", Port: 443, "nodenodenodenodenode01", "clustercluster01")
                {
                    Name = "pi-1",
                    PeerPort = 9443,
                    FormingMark = "0af3",
                },
                new MdnsService("192.168.1.8", Port: 443, NodeId: null, ClusterId: null),
            ],
            NetworkTables.Services(Browsed)
        );
}
