using System.Net;
using Microsoft.AspNetCore.Connections;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>The limit on connections from one address, here three.</summary>
public sealed class ConnectionsByAddressTests
{
    private readonly RecordedLog _log = new();
    private readonly SimulatedTimeProvider _time = new();
    private readonly ConnectionsByAddress _connections;

    public ConnectionsByAddressTests() => _connections = new ConnectionsByAddress(max: 3, _log, _time);

    [Fact]
    public async Task One_address_cannot_use_up_all_connections()
    {
        var first = Connect("192.168.1.66");
        Connect("192.168.1.66");
        // The same address, as an IPv6 socket reports it.
        Connect("::ffff:192.168.1.66");
        for (int more = 0; more < 100; more++)
        {
            Assert.True(Connect("192.168.1.66").IsRefused);
        }

        Assert.False(Connect("192.168.1.67").IsRefused);
        Assert.Contains("192.168.1.66 has 3 connections", Assert.Single(_log.Lines), StringComparison.Ordinal);
        // One line in a minute, however many connections are refused.
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.True(Connect("192.168.1.66").IsRefused);
        Assert.Equal(2, _log.Lines.Count);
        Assert.Equal(101, _connections.Refused);
        Assert.Equal(TimeSpan.Zero, _connections.SinceLastRefusal);
        await first.EndAsync();
        Assert.False(Connect("192.168.1.66").IsRefused);
        Assert.True(Connect("192.168.1.66").IsRefused);
    }

    [Fact]
    public void An_IPv6_network_counts_as_one_host_and_loopback_is_not_counted()
    {
        for (int host = 1; host <= 3; host++)
        {
            Assert.False(Connect($"2001:db8:1:2::{host}").IsRefused);
        }

        Assert.True(Connect("2001:db8:1:2:ffff::1").IsRefused);
        Assert.False(Connect("2001:db8:1:3::1").IsRefused);
        for (int own = 0; own < 10; own++)
        {
            Assert.False(Connect("127.0.0.1").IsRefused);
            Assert.False(Connect("::1").IsRefused);
        }
    }

    private Connection Connect(string address)
    {
        var connection = new Connection { RemoteEndPoint = new IPEndPoint(IPAddress.Parse(address), 50_000) };
        connection.Running = _connections.RunAsync(connection, static served => ((Connection)served).End.Task);
        return connection;
    }

    /// <summary>A connection that lasts until the test ends it, unless it is refused.</summary>
    private sealed class Connection : DefaultConnectionContext
    {
        public TaskCompletionSource End { get; } = new();

        public Task Running { get; set; } = Task.CompletedTask;

        public bool IsRefused { get; private set; }

        public override void Abort(ConnectionAbortedException abortReason) => IsRefused = true;

        public Task EndAsync()
        {
            End.SetResult();
            return Running;
        }
    }
}
