using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Cluster;
using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Server.Operations;
using Rookery.Server.Tests.Access;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>GET /livez and GET /readyz, in JSON (verbose) and as text (words).</summary>
/// <param name="inDiagnosis">A node whose data directory has the unknown format 9.</param>
public sealed class HealthRouteTests(NodeInDiagnosis inDiagnosis) : IClassFixture<NodeInDiagnosis>
{
    [Fact]
    public async Task A_node_in_diagnosis_mode_is_live_and_reports_why_it_is_not_ready()
    {
        Assert.Equal(HttpStatusCode.OK, (await inDiagnosis.Http.GetAsync("/livez")).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await inDiagnosis.Http.GetAsync("/metrics")).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await inDiagnosis.Http.GetAsync("/debug/io")).StatusCode);
        var ready = await inDiagnosis.Http.GetAsync("/readyz?verbose");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, ready.StatusCode);
        using var health = JsonDocument.Parse(await ready.Content.ReadAsStringAsync());
        Assert.False(health.RootElement.GetProperty("Ready").GetBoolean());
        Assert.Contains("format 9", health.RootElement.GetProperty("Reason").GetString(), StringComparison.Ordinal);
        var words = await inDiagnosis.Http.GetAsync("/readyz?words");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, words.StatusCode);
        Assert.Equal("text/plain", words.Content.Headers.ContentType?.MediaType);
        Assert.Equal(
            string.Join('\n', StatusWords.Describe(health.RootElement)) + "\n",
            await words.Content.ReadAsStringAsync()
        );
        Assert.Equal([StatusWords.Unwell], ready.Headers.GetValues(StatusWords.Header));
        Assert.Equal([StatusWords.Unwell], words.Headers.GetValues(StatusWords.Header));
    }

    [Fact]
    public async Task A_serving_node_reports_that_it_is_healthy_as_text_and_as_JSON()
    {
        var server = new RunningServer();
        await server.InitializeAsync();
        try
        {
            var verbose = await server.SendAsync("GET", "/readyz?verbose");
            var words = await server.SendAsync("GET", "/readyz?words");
            Assert.Equal((200, 200), (verbose.Status, words.Status));
            Assert.Equal([StatusWords.Well], verbose.Headers.GetValues(StatusWords.Header));
            Assert.Equal([StatusWords.Well], words.Headers.GetValues(StatusWords.Header));
            Assert.StartsWith("Ready: documents are served.\n", words.Body, StringComparison.Ordinal);
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    [Theory]
    [InlineData("leader")]
    [InlineData("1")]
    public async Task Fixed_words_are_shown_to_everyone_unchanged_although_a_machine_has_such_a_name(string name)
    {
        var server = new SecureServer { MemberName = name };
        await server.InitializeAsync();
        try
        {
            var shown = (await server.SendAsync("GET", "/readyz?verbose")).Json;
            var whole = (await server.SendAsync("GET", "/readyz?verbose", SecureServer.LocalKey)).Json;
            Assert.Equal(whole.GetProperty("Version").GetString(), shown.GetProperty("Version").GetString());
            Assert.Equal(
                "leader",
                shown.GetProperty("Cluster").GetProperty("Members")[0].GetProperty("Role").GetString()
            );
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    /// <summary>The node waits for the entries of the cluster that it joined, so it knows no members yet.</summary>
    [Fact]
    public async Task A_member_that_has_just_joined_is_not_ready()
    {
        var time = new SimulatedTimeProvider();
        var memory = new MemoryBudget(96 << 20);
        var io = new IoTimeline(time, "unknown");
        var disk = new SimulatedDisk("/data");
        using var node = Node.Open(
            new NodeOptions { DataDirectory = "/data/node", HasPeers = true },
            disk,
            memory,
            io,
            time,
            static store =>
                RaftConsensus.Open(store, new ConsensusOptions { Network = new NoPeers(), MayFoundCluster = false })
        );
        var context = new ServerContext(
            new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) },
            time,
            NullLogger.Instance,
            memory,
            io
        );
        using var indexes = Indexing.Of(node, disk, "/data/node");
        context.Readiness.MarkOpen(node, indexes);
        await using var app = RookeryServer.Build(context, host => host.UseTestServer());
        await app.StartAsync();
        using var client = app.GetTestClient();

        Assert.Equal(HttpStatusCode.OK, (await client.GetAsync("/livez")).StatusCode);
        var ready = await client.GetAsync("/readyz");
        Assert.Equal(HttpStatusCode.ServiceUnavailable, ready.StatusCode);
        Assert.Contains(
            "does not know yet which nodes belong to the cluster",
            await ready.Content.ReadAsStringAsync(),
            StringComparison.Ordinal
        );
    }

    /// <summary>A network without peers.</summary>
    private sealed class NoPeers : IPeerNetwork
    {
        public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
        {
            // The message is lost.
        }

        public ValueTask<CommandOutcome> ForwardAsync(
            NodeId leader,
            CommandBuffer command,
            CancellationToken cancellationToken
        ) => throw new InvalidOperationException("no peer leads");

        public void SetPeers(IReadOnlyList<PeerAddress> peers)
        {
            // The peers are not reached.
        }
    }
}
