using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>The memory of a connection's buffers.</summary>
public sealed class ConnectionBuffersTests
{
    [Fact]
    public async Task A_connection_buffers_64_KiB_in_each_direction()
    {
        var time = new SimulatedTimeProvider();
        var context = new ServerContext(
            new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) },
            time,
            NullLogger.Instance,
            new MemoryBudget(96 << 20),
            new IoTimeline(time, "mmcblk0p2", "sda1")
        );
        await using var app = RookeryServer.Build(context);
        var sockets = app.Services.GetRequiredService<IOptions<SocketTransportOptions>>().Value;
        Assert.Equal((64 << 10, 64 << 10), (sockets.MaxReadBufferSize, sockets.MaxWriteBufferSize));
    }
}
