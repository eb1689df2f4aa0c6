using System.Diagnostics.CodeAnalysis;
using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Cluster;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>A node in diagnosis mode, because a later version wrote its data.</summary>
[SuppressMessage("Design", "CA1001", Justification = "xunit calls DisposeAsync of IAsyncLifetime.")]
public sealed class NodeInDiagnosis : IAsyncLifetime
{
    private Node? _node;
    private IndexHost? _indexes;
    private WebApplication? _app;

    public HttpClient Http { get; private set; } = null!;

    internal ServerContext Context { get; private set; } = null!;

    public async Task InitializeAsync()
    {
        var time = new SimulatedTimeProvider();
        var memory = new MemoryBudget(96 << 20);
        var io = new IoTimeline(time, "unknown");
        var disk = new SimulatedDisk("/data");
        // A format that this version does not know.
        using (var format = disk.Open("/data/format", DiskOpen.CreateNew))
        {
            format.Write("rookery data format 9\nnode a\ncluster b\n"u8, 0);
        }

        _node = Node.Open(new NodeOptions { DataDirectory = "/data" }, disk, memory, io, time, RaftConsensus.Alone);
        Context = new ServerContext(
            new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) },
            time,
            NullLogger.Instance,
            memory,
            io
        );
        _indexes = Indexing.Of(_node, disk);
        Context.Readiness.MarkOpen(_node, _indexes);
        _app = RookeryServer.Build(Context, host => host.UseTestServer());
        await _app.StartAsync();
        Http = _app.GetTestClient();
    }

    public async Task DisposeAsync()
    {
        Http.Dispose();
        await _app!.DisposeAsync();
        _indexes!.Dispose();
        _node!.Dispose();
    }
}
