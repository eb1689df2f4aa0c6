using System.Net;
using System.Net.Sockets;

namespace Rookery.Platform.Tests;

/// <summary>Connections to programs of this machine.</summary>
public sealed class ThisMachineTests
{
    [Fact]
    public void Addresses_of_other_machines_are_left_out_whatever_the_name()
    {
        IPAddress[] mixed = [IPAddress.Parse("192.0.2.1"), IPAddress.IPv6Loopback, IPAddress.Parse("127.0.1.1")];
        Assert.Equal([IPAddress.IPv6Loopback, IPAddress.Parse("127.0.1.1")], ThisMachine.OnlyLoopback(mixed));
        var refused = Assert.Throws<SocketException>(() => ThisMachine.OnlyLoopback([IPAddress.Parse("192.0.2.1")]));
        Assert.Equal(SocketError.HostNotFound, refused.SocketErrorCode);
    }

    [Fact]
    public async Task A_host_elsewhere_is_not_connected_to()
    {
        var elsewhere = new DnsEndPoint("192.0.2.1", 9);
        await Assert.ThrowsAsync<SocketException>(async () =>
            await ThisMachine.ConnectAsync(elsewhere, CancellationToken.None)
        );
    }

    [Fact]
    public async Task A_program_here_is_connected_to_by_name_and_address()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        foreach (string host in (string[])["localhost", "127.0.0.1"])
        {
            await using var stream = await ThisMachine.ConnectAsync(
                new DnsEndPoint(host, port),
                CancellationToken.None
            );
            using var accepted = await listener.AcceptTcpClientAsync();
            Assert.True(accepted.Connected);
        }
    }
}
