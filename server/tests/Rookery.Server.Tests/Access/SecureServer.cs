using System.Net;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Rookery.Board;
using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Support;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Access;

/// <summary>A node in memory behind TLS on a free port.</summary>
public sealed class SecureServer : IAsyncLifetime
{
    /// <summary>The token for commands on the node's own machine; it has every right.</summary>
    public const string LocalKey = "rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    /// <summary>The code with which the first owner claims the node.</summary>
    public const string ClaimCode = "ABCDEFGH23456789";

    private WebApplication? _app;
    private Node? _node;
    private IndexingThread? _indexing;

    public RecordedLog Log { get; } = new();

    /// <summary>The disk of the node.</summary>
    public SimulatedDisk Disk { get; } = new("/data", "/journal");

    /// <summary>The journal's own directory; null for one in the data directory.</summary>
    public string? JournalDirectory { get; init; }

    /// <summary>The clock of the node and its routes.</summary>
    public SimulatedTimeProvider Time { get; init; } = new();

    public bool IsClockSynchronised { get; set; } = true;

    /// <summary>Whether the server uses TLS and requires credentials.</summary>
    public bool IsSecure { get; init; } = true;

    /// <summary>The address from which the machine's metrics are read.</summary>
    public Uri MachineMetrics { get; init; } = new(ServeConfiguration.DefaultMachineMetrics);

    /// <summary>The watched board; null for none.</summary>
    public BoardWatch? Board { get; init; }

    public Func<MachineNotes>? MachineNotes { get; init; }

    /// <summary>What is wrong with the settings on the machine's card.</summary>
    public IReadOnlyList<string> SettingsNotes { get; set; } = [];

    public IReadOnlyList<DebugPart> DebugParts { get; init; } = [];

    public IReadOnlyList<ShownSetting> Settings { get; init; } = [];

    /// <summary>
    /// Runs before each read barrier, and stores what the leader has and this node lacks. If set, the node is one of
    /// three members; null for a single node.
    /// </summary>
    public Func<IConsensus, Task>? AtBarrier { get; init; }

    /// <summary>Name of the node as one of three members; null for a single node.</summary>
    public string? MemberName { get; init; }

    internal TestIdentity Identity { get; } = new();

    /// <summary>The identity after the authority was replaced; null before.</summary>
    internal TestIdentity? NextIdentity { get; set; }

    internal ServerContext Context { get; private set; } = null!;

    public Node Node => _node!;

    public Uri Address { get; private set; } = new("https://127.0.0.1");

    internal WebApplication App => _app!;

    public async Task InitializeAsync()
    {
        var io = new IoTimeline(TimeProvider.System, "memory");
        var memory = new MemoryBudget(256 << 20);
        _node = Node.Open(
            new NodeOptions
            {
                DataDirectory = "/data",
                JournalDirectory = JournalDirectory,
                SegmentBytes = 4 << 20,
            },
            Disk,
            memory,
            io,
            Time,
            OpenConsensus
        );
        var options = new ServerOptions
        {
            Listen = new IPEndPoint(IPAddress.Loopback, 0),
            TcpListen = new IPEndPoint(IPAddress.Loopback, 0),
            IsSecure = IsSecure,
            Identity = () => NextIdentity ?? Identity,
            NodeName = "pi-1",
            ClusterName = "home",
            MachineMetrics = MachineMetrics,
            Board = Board,
            MachineNotes = MachineNotes,
            SettingsNotes = () => SettingsNotes,
            DebugParts = DebugParts,
            Settings = Settings,
            ClaimCode = IsSecure ? ClaimCode : null,
            Forming = static () => "This node waits to form the cluster home of 3. It sees pi-2.",
            LocalKeyHash = SHA256.HashData(Encoding.ASCII.GetBytes(LocalKey)),
        };
        Context = new ServerContext(options, Time, Log, memory, io);
        _indexing = Indexing.Start(_node, Disk, out var indexes);
        Context.Readiness.MarkOpen(_node, indexes);
        _app = RookeryServer.Build(Context);
        await _app.StartAsync();
        Address = new Uri(_app.Urls.First()); // the second is that of subscriptions
        foreach (string name in (string[])["Shop", "Other"])
        {
            await ProposeAsync(CommandEncoder.CreateDatabase(name, HistoryId.Create()));
        }
    }

    public async Task DisposeAsync()
    {
        await _app!.DisposeAsync();
        _indexing!.Dispose();
        _node!.StopCleanly();
        _node.Dispose();
        Identity.Dispose();
    }

    /// <summary>Stores a command, which must not be refused.</summary>
    public async Task ProposeAsync(CommandBuffer command) =>
        Assert.Null((await Node.Consensus.ProposeAsync(command, CancellationToken.None)).Rejection);

    /// <summary>Registers a token and returns it.</summary>
    /// <param name="scopes">Rights of the token.</param>
    /// <param name="databases">Databases in which it has them; null for all.</param>
    /// <param name="expires">When it expires; null for never.</param>
    /// <param name="name">Its name.</param>
    internal async Task<string> GiveTokenAsync(
        string[] scopes,
        string[]? databases = null,
        DateTimeOffset? expires = null,
        string name = "test"
    )
    {
        string token = AccessToken.Create();
        await SetAsync(
            KeyOf(token),
            AccessJson.Encode(new TokenRecord(name, scopes, databases, Time.GetUtcNow(), expires))
        );
        return token;
    }

    /// <summary>Registers a client certificate, or replaces its rights.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="isAdmin">Whether it has every right.</param>
    /// <param name="rights">"ro" or "rw" for each database that it may use.</param>
    internal async Task RegisterAsync(
        X509Certificate2 certificate,
        bool isAdmin,
        params (string Database, string Right)[] rights
    ) =>
        await SetAsync(
            ClusterRecordPrefix.ClientCertificate + AccessGate.ThumbprintOf(certificate),
            AccessJson.Encode(
                new CertificateRecord(
                    "app",
                    isAdmin,
                    rights.ToDictionary(right => right.Database, right => right.Right),
                    Time.GetUtcNow(),
                    Time.GetUtcNow()
                )
            )
        );

    internal async Task RevokeAsync(string token)
    {
        using var writer = new ClusterRecordWriter();
        writer.Delete(KeyOf(token));
        await ProposeAsync(writer.Complete());
    }

    /// <summary>Sends one request over a new connection, and reads its whole answer, of any status.</summary>
    public async Task<Answer> SendAsync(
        string method,
        string url,
        string? token = null,
        string? body = null,
        X509Certificate2? certificate = null
    )
    {
        using var http = NewClient(certificate);
        return await SendAsync(http, method, url, token, body);
    }

    public async Task<Answer> SendAsync(
        HttpClient http,
        string method,
        string url,
        string? token = null,
        string? body = null
    )
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(Address, url));
        request.Content = body is null ? null : new StringContent(body, Encoding.UTF8, "application/json");
        if (token is not null)
        {
            request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        }

        using var response = await http.SendAsync(request);
        return new Answer(
            (int)response.StatusCode,
            await response.Content.ReadAsStringAsync(),
            response.Headers,
            response.Content.Headers.ContentLength
        );
    }

    /// <summary>Returns a client that trusts the server and presents this certificate.</summary>
    public HttpClient NewClient(X509Certificate2? certificate = null)
    {
        var handler = new SocketsHttpHandler
        {
            SslOptions = new SslClientAuthenticationOptions { CertificateChainPolicy = TrustPolicy() },
        };
        if (certificate is not null)
        {
            handler.SslOptions.ClientCertificates = [certificate];
        }

        return new HttpClient(handler) { Timeout = TimeSpan.FromSeconds(60) };
    }

    /// <summary>Returns a policy that trusts the test's authority only.</summary>
    public X509ChainPolicy TrustPolicy()
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
        };
        policy.CustomTrustStore.AddRange(Identity.Authorities);
        return policy;
    }

    private IConsensusHost OpenConsensus(NodeStore store)
    {
        var alone = RaftConsensus.Open(store, new ConsensusOptions { IsClockSynchronised = () => IsClockSynchronised });
        return AtBarrier is null && MemberName is null
            ? alone
            : new OneOfThree(alone, AtBarrier ?? (static _ => Task.CompletedTask)) { MemberName = MemberName };
    }

    private static string KeyOf(string token)
    {
        Span<byte> hash = stackalloc byte[AccessToken.HashBytes];
        Assert.True(AccessToken.TryHash(token, hash));
        return AccessToken.KeyOf(hash);
    }

    private async Task SetAsync(string key, byte[] value)
    {
        using var writer = new ClusterRecordWriter();
        writer.Set(key, value);
        await ProposeAsync(writer.Complete());
    }
}
