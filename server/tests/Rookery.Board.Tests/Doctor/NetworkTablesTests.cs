using System.Net;
using Rookery.Board.Doctor;

namespace Rookery.Board.Tests.Doctor;

public sealed class NetworkTablesTests
{
    /// <summary>/proc/net/route of a Pi with cable and Wi-Fi.</summary>
    private const string Routes = """
        Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT                                                       
        wlan0	00000000	0102A8C0	0003	0	0	600	00000000	0	0	0                                                                              
        eth0	00000000	0101A8C0	0003	0	0	100	00000000	0	0	0                                                                               
        eth0	0001A8C0	00000000	0001	0	0	100	00FFFFFF	0	0	0                                                                               
        """;

    private const string Neighbours = """
        IP address       HW type     Flags       HW address            Mask     Device
        192.168.1.1      0x1         0x2         dc:a6:32:00:00:01     *        eth0
        192.168.1.9      0x1         0x0         00:00:00:00:00:00     *        eth0
        """;

    private const string Sockets = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     
           0: 00000000:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20731 1 0000000000000000 100 0 0 10 0                     
           1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 20800 1 0000000000000000 20 4 30 10 -1                    
        """;

    private const string Browsed = """
        +;eth0;IPv4;rookery-abc123;_rookery._tcp;local
        =;eth0;IPv4;rookery-abc123;_rookery._tcp;local;rookery-abc123.local;192.168.1.7;443;"forming=0af3" "peers=9443" "state=member" "name=pi-1" "node=nodenodenodenodenode01" "cluster=clustercluster01"
        =;eth0;IPv4;rookery\032two;_rookery._tcp;local;rookery-two.local;192.168.1.8;443;"peers=many" "state=unclaimed"
        =;wlan0;IPv4;rookery-abc123;_rookery._tcp;local;rookery-abc123.local;192.168.1.7;443;"forming=0af3" "peers=9443" "state=member" "name=pi-1" "node=nodenodenodenodenode01" "cluster=clustercluster01"
        =;eth0;IPv4;broken;_rookery._tcp;local;broken.local;nowhere;443;
        """;

    [Fact]
    public void The_default_gateway_is_that_of_the_least_metric() => Assert.Equal(IPAddress.Parse("192.168.1.1"), NetworkTables.DefaultGateway(Routes));

    [Theory]
    [InlineData("")]
    [InlineData("Iface\tDestination\tGateway\neth0\tnonsense\n")]
    [InlineData("Iface\nlo\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n")]
    public void Without_a_default_route_there_is_no_gateway(string routes) => Assert.Null(NetworkTables.DefaultGateway(routes));

    [Fact]
    public void A_neighbour_has_answered_when_its_entry_is_complete()
    {
        Assert.True(NetworkTables.HasAnswered(Neighbours, IPAddress.Parse("192.168.1.1")));
        Assert.False(NetworkTables.HasAnswered(Neighbours, IPAddress.Parse("192.168.1.9")));
        Assert.False(NetworkTables.HasAnswered(Neighbours, IPAddress.Parse("192.168.1.2")));
    }

    [Fact]
    public void Only_sockets_that_listen_take_a_port() => Assert.Equal([443], NetworkTables.ListeningPorts(Sockets));

    [Fact]
    public void Each_announced_node_is_found_once() => Assert.Equal(
        [new MdnsService("192.168.1.7", 443, "nodenodenodenodenode01", "clustercluster01") { Name = "pi-1", PeerPort = 9443, FormingMark = "0af3" }, new MdnsService("192.168.1.8", 443, null, null)],
        NetworkTables.Services(Browsed));
}
