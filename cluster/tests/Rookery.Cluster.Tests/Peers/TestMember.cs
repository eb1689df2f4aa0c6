using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>One member's network on loopback, with a real listener and real certificates.</summary>
internal sealed class TestMember : IAsyncDisposable
{
    /// <summary>The path that answers whether <see cref="PeerNetwork.AdmitOrRefuse"/> admits the caller.</summary>
    public const string GatePath = "/gate";

    /// <summary>The path of requests that the test answers itself.</summary>
    public const string HeldPath = "/held";

    private readonly WebApplication _listener;

    private TestMember(
        PeerHello self,
        PeerNetwork network,
        TestReceiver receiver,
        TestAdmission admission,
        ConcurrentQueue<string> log,
        WebApplication listener
    )
    {
        Self = self;
        Network = network;
        Receiver = receiver;
        Admission = admission;
        Log = log;
        _listener = listener;
    }

    public PeerHello Self { get; }

    public NodeId Node => Self.Member;

    public PeerNetwork Network { get; }

    public TestReceiver Receiver { get; }

    public TestAdmission Admission { get; }

    /// <summary>The sentences logged for its owner.</summary>
    public ConcurrentQueue<string> Log { get; }

    public int Port { get; private init; }

    public PeerAddress Address => new(Node, [$"127.0.0.1:{Port}"]);

    /// <summary>The hello of the fifth start of a member's store.</summary>
    public static PeerHello Hello(string node, string cluster = TestAuthority.ClusterId) =>
        new()
        {
            ClusterId = cluster,
            NodeId = node,
            StoreId = Guid.Parse("00000000-0000-0000-0000-000000000001"),
            StartNumber = 5,
            FeatureLevel = 1,
        };

    /// <summary>Returns a source of the certificates of a new identity of a member.</summary>
    public static Func<PeerTrust> TrustOf(ClusterAuthority authority, string node, DateTimeOffset? signed = null)
    {
        var trust = PeerTrust.Of(TestAuthority.CreateIdentity(authority, signed, node));
        return () => trust;
    }

    /// <summary>Returns a port on which no process listens now.</summary>
    public static int FreePort()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
    }

    /// <summary>Starts a member.</summary>
    /// <param name="self">Its hello.</param>
    /// <param name="trust">Returns its certificates.</param>
    /// <param name="port">The port to listen on; 0 for any.</param>
    /// <param name="time">The clock of its network; null for the machine's.</param>
    /// <param name="listen">The address to listen on; null for 127.0.0.1.</param>
    /// <param name="held">Answers requests for <see cref="HeldPath"/>.</param>
    public static async Task<TestMember> StartAsync(
        PeerHello self,
        Func<PeerTrust> trust,
        int port = 0,
        TimeProvider? time = null,
        IPAddress? listen = null,
        RequestDelegate? held = null
    )
    {
        var log = new ConcurrentQueue<string>();
        var admission = new TestAdmission();
        var network = new PeerNetwork(self, trust, admission, time ?? TimeProvider.System, log.Enqueue);
        var receiver = new TestReceiver();
        network.Start(receiver);
        var app = PeerListener.Build(
            new IPEndPoint(listen ?? IPAddress.Loopback, port),
            network,
            served =>
                served.Run(http =>
                    http.Request.Path == HeldPath ? held!(http)
                    : http.Request.Path == GatePath ? http.Response.WriteAsync(network.AdmitOrRefuse(http) ?? "welcome")
                    : AnswerWithCallerIdentity(http)
                )
        );
        await app.StartAsync();
        string address = app
            .Services.GetRequiredService<IServer>()
            .Features.Get<IServerAddressesFeature>()!
            .Addresses.Single();
        return new TestMember(self, network, receiver, admission, log, app) { Port = new Uri(address).Port };
    }

    /// <summary>Starts members that are each other's peers.</summary>
    public static async Task<TestMember[]> StartAllAsync(ClusterAuthority authority, params string[] nodes)
    {
        var members = await Task.WhenAll(nodes.Select(node => StartAsync(Hello(node), TrustOf(authority, node))));
        foreach (var member in members)
        {
            member.Network.SetPeers([.. members.Where(other => other != member).Select(other => other.Address)]);
        }

        await Eventually.HoldsAsync(() => members.All(member => member.IsConnectedToAll), "all members are connected");
        return members;
    }

    /// <summary>Stops listening, as a member that stops does.</summary>
    public Task StopAsync(TimeProvider time) => PeerListener.StopAsync(_listener, Log.Enqueue, time);

    public bool IsConnectedToAll => Network.Status().All(peer => peer.HasControl && peer.HasBulk);

    /// <summary>Whether a logged sentence contains a text.</summary>
    public bool HasLogged(string part) => Log.Any(sentence => sentence.Contains(part, StringComparison.Ordinal));

    public async ValueTask DisposeAsync()
    {
        Receiver.Unblock();
        await Network.DisposeAsync();
        await _listener.DisposeAsync();
        Receiver.Dispose();
    }

    private static Task AnswerWithCallerIdentity(HttpContext http)
    {
        var verdict = http.Features.Get<ProvenPeer>()!.Verdict;
        return http.Response.WriteAsync(verdict.NodeId ?? verdict.Refusal ?? "nobody");
    }
}

/// <summary>Admits every node that is not in <see cref="Refused"/>.</summary>
internal sealed class TestAdmission : IPeerAdmission
{
    /// <summary>The reasons of the refusals, by the node's id.</summary>
    public ConcurrentDictionary<string, string> Refused { get; } = new(StringComparer.Ordinal);

    public PeerRefusal? Refuse(PeerHello hello) =>
        Refused.TryGetValue(hello.NodeId, out string? reason) ? new PeerRefusal(reason, Kind) : null;

    /// <summary>The kind of the refusals.</summary>
    public PeerRefusalKind Kind { get; set; }
}

/// <summary>Waits for conditions.</summary>
internal static class Eventually
{
    /// <summary>Waits until a condition holds, 30 s at most.</summary>
    /// <param name="condition">The condition.</param>
    /// <param name="expected">The condition in words, for the failure.</param>
    public static async Task HoldsAsync(Func<bool> condition, string expected)
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        using var tick = new PeriodicTimer(TimeSpan.FromMilliseconds(5));
        while (!condition())
        {
            try
            {
                await tick.WaitForNextTickAsync(timeout.Token);
            }
            catch (OperationCanceledException)
            {
                Assert.Fail("Not true within 30 s: " + expected);
            }
        }
    }
}
