using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Server;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Simulation;

namespace Rookery.Redis.Tests;

/// <summary>A node in memory that serves Redis clients on a free port of this machine.</summary>
[SuppressMessage("Design", "CA1001", Justification = "xunit calls DisposeAsync of IAsyncLifetime.")]
public sealed class RedisServer : IAsyncLifetime
{
    /// <summary>The token of the node's machine; it has every right.</summary>
    public const string LocalKey = "rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    private WebApplication? _app;
    private Node? _node;
    private IndexHost? _indexes;
    private RedisProtocol? _protocol;

    /// <summary>Whether clients must authenticate.</summary>
    public bool NeedsCredential { get; init; }

    /// <summary>Whether the data stay closed, as at the start of a node.</summary>
    public bool IsOpening { get; init; }

    /// <summary>Connections that each endpoint takes.</summary>
    public int ConnectionsLimit { get; init; } = 2048;

    /// <summary>Bytes of documents in memory before they are written to a file; 0 for the usual number.</summary>
    public long MemtableBytes { get; init; }

    /// <summary>Wraps the consensus.</summary>
    public Func<IConsensusHost, IConsensusHost> WrapConsensus { get; init; } = static consensus => consensus;

    internal SimulatedDisk Disk { get; } = new();

    internal ServerContext Context { get; private set; } = null!;

    internal RedisNode Redis => _protocol!.Node;

    public Node Node => _node!;

    public int Port => _protocol!.Port!();

    /// <summary>Address for HTTP.</summary>
    public Uri HttpAddress => new(_app!.Urls.First());

    public async Task InitializeAsync()
    {
        var io = new IoTimeline(TimeProvider.System, "memory");
        var memory = new MemoryBudget(256 << 20);
        _node = Node.Open(
            new NodeOptions
            {
                DataDirectory = "/data",
                SegmentBytes = 4 << 20,
                MemtableBytes = MemtableBytes,
            },
            Disk,
            memory,
            io,
            TimeProvider.System,
            store => WrapConsensus(RaftConsensus.Alone(store))
        );
        var options = new ServerOptions
        {
            Listen = new IPEndPoint(IPAddress.Loopback, 0),
            IsSecure = NeedsCredential,
            ConnectionsLimit = ConnectionsLimit,
            LocalKeyHash = SHA256.HashData(Encoding.ASCII.GetBytes(LocalKey)),
        };
        Context = new ServerContext(options, TimeProvider.System, NullLogger.Instance, memory, io);
        _protocol = new RedisProtocol(
            Context,
            new RedisConfiguration(new IPEndPoint(IPAddress.Loopback, 0), "redis", UsesTls: false)
        );
        Context.Protocols.Add(_protocol);
        _indexes = IndexHost.Open(
            _node.Databases,
            Disk,
            new IndexHostOptions
            {
                DataDirectory = "/data",
                ShareOfCore = static () => 1,
                HasRoom = static () => true,
                HasReapplied = _node.HasReapplied,
                TroubleFound = static trouble => throw new InvalidOperationException(trouble),
                Memory = new MemoryBudget(64 << 20),
                Io = io,
            },
            TimeProvider.System
        );
        if (!IsOpening)
        {
            Context.Readiness.MarkOpen(_node, _indexes);
        }

        _app = RookeryServer.Build(Context);
        await _app.StartAsync();
    }

    /// <summary>Stops the server as a node's process does; the node keeps running.</summary>
    public Task StopAsync() => RookeryServer.StopAsync(_app!, Context);

    public async Task DisposeAsync()
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        await _app!.StopAsync(timeout.Token);
        await _app.DisposeAsync();
        _indexes!.Dispose();
        _node!.StopCleanly();
        _node.Dispose();
    }

    /// <summary>Connects a client that sends and receives bytes.</summary>
    internal async Task<RawClient> ConnectAsync()
    {
        var client = new RawClient();
        await client.ConnectAsync(Port);
        return client;
    }

    /// <summary>Registers a token with scopes in one database, or in all, and returns it.</summary>
    internal async Task<string> GiveTokenAsync(string name, string[] scopes, string? database = null)
    {
        string token = AccessToken.Create();
        using var writer = new ClusterRecordWriter();
        writer.Set(
            KeyOf(token),
            AccessJson.Encode(
                new TokenRecord(name, scopes, database is null ? null : [database], Context.KnownTime, Expires: null)
            )
        );
        await ProposeAsync(writer.Complete());
        return token;
    }

    internal async Task RevokeAsync(string token)
    {
        using var writer = new ClusterRecordWriter();
        writer.Delete(KeyOf(token));
        await ProposeAsync(writer.Complete());
    }

    private async Task ProposeAsync(CommandBuffer command) =>
        Assert.Null((await Node.Consensus.ProposeAsync(command, CancellationToken.None)).Rejection);

    private static string KeyOf(string token)
    {
        Span<byte> hash = stackalloc byte[AccessToken.HashBytes];
        Assert.True(AccessToken.TryHash(token, hash));
        return AccessToken.KeyOf(hash);
    }
}
