using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Cluster;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>A node in memory behind a real HTTP server on a free port.</summary>
[SuppressMessage("Design", "CA1001", Justification = "xunit calls DisposeAsync of IAsyncLifetime.")]
public sealed class RunningServer : IAsyncLifetime
{
    private WebApplication? _app;
    private Node? _node;
    private IndexingThread? _indexing;
    private int _databases;
    private Task? _stopping;

    /// <summary>A client of the server.</summary>
    public HttpClient Http { get; } = new() { Timeout = TimeSpan.FromSeconds(60) };

    public RecordedLog Log { get; } = new();

    /// <summary>The clock of the routes.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>The clock of the node, by which values expire.</summary>
    public TimeProvider NodeTime { get; init; } = TimeProvider.System;

    /// <summary>The clock of waits for an index.</summary>
    public TimeProvider IndexTime { get; init; } = TimeProvider.System;

    /// <summary>Whether the indexing thread does nothing.</summary>
    public bool HoldsIndexing { get; set; }

    /// <summary>
    /// Called by the indexing thread after it opened indexes: while this blocks, no further index is opened.
    /// </summary>
    public Func<bool> MayIndex { get; init; } = static () => true;

    /// <summary>Called for index trouble that a healthy node does not have; null to fail the test instead.</summary>
    public Action<string>? IndexTroubleFound { get; init; }

    /// <summary>The memory of the node and of requests. All large requests together may use a quarter of it.</summary>
    public MemoryBudget Memory { get; init; } = new(256 << 20);

    /// <summary>Wraps the consensus of the single node, for example in <see cref="OneOfThree"/>.</summary>
    public Func<IConsensusHost, IConsensusHost> WrapConsensus { get; init; } = static consensus => consensus;

    /// <summary>The disk of data and indexes, under /data.</summary>
    public SimulatedDisk Disk { get; } = new();

    /// <summary>Wraps the disk for the node.</summary>
    public Func<IDisk, IDisk> WrapDisk { get; init; } = static disk => disk;

    /// <summary>Changes the options of the server before it starts.</summary>
    public Func<ServerOptions, ServerOptions> ChangeOptions { get; init; } = static options => options;

    internal ServerContext Context { get; private set; } = null!;

    public Node Node => _node!;

    /// <summary>The mapped routes.</summary>
    public IEnumerable<RouteEndpoint> Routes =>
        ((IEndpointRouteBuilder)_app!)
            .DataSources.SelectMany(static source => source.Endpoints)
            .OfType<RouteEndpoint>();

    public Uri Address { get; private set; } = new("http://127.0.0.1");

    public async Task InitializeAsync()
    {
        var io = new IoTimeline(Time, "memory");
        _node = Node.Open(
            new NodeOptions { DataDirectory = "/data", SegmentBytes = 4 << 20 },
            WrapDisk(Disk),
            Memory,
            io,
            NodeTime,
            store => WrapConsensus(RaftConsensus.Alone(store))
        );
        Context = new ServerContext(
            ChangeOptions(
                new ServerOptions
                {
                    Listen = new IPEndPoint(IPAddress.Loopback, 0),
                    TcpListen = new IPEndPoint(IPAddress.Loopback, 0),
                    AdminRoutes = new ClusterRoutes(NullLogger.Instance).All,
                }
            ),
            Time,
            Log,
            Memory,
            io
        );
        _indexing = Indexing.Start(
            _node,
            Disk,
            () => MayIndex() && !HoldsIndexing,
            IndexTime,
            IndexTroubleFound,
            out var indexes
        );
        Context.Readiness.MarkOpen(_node, indexes);
        _app = RookeryServer.Build(Context);
        await _app.StartAsync();
        Address = new Uri(_app.Urls.First()); // the second is that of subscriptions
        Http.BaseAddress = Address;
    }

    public async Task DisposeAsync()
    {
        Http.Dispose();
        await (_stopping ?? StopSoonAsync());
        await _app!.DisposeAsync();
        _indexing!.Dispose();
        _node!.StopCleanly();
        _node.Dispose();
    }

    /// <summary>Signals the stop, as a process does before it transfers its leadership.</summary>
    public void BeginStop() => _app!.Lifetime.StopApplication();

    /// <summary>Stops the server as a node's process does; the node keeps running.</summary>
    public Task StopAsync() => _stopping ??= RookeryServer.StopAsync(_app!, Context);

    /// <summary>Creates a database and returns the prefix of its URLs ("/databases/db7").</summary>
    public async Task<string> CreateDatabaseAsync()
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"db{Interlocked.Increment(ref _databases)}");
        var created = await SendAsync(
            "PUT",
            $"/admin/databases?name={name}&replicationFactor=1",
            $$"""{"DatabaseName":"{{name}}","Settings":{ } }"""
        );
        Assert.Equal(201, created.Status);
        return "/databases/" + name;
    }

    /// <summary>Sends a request and reads its whole answer, of any status.</summary>
    public Task<Answer> SendAsync(
        string method,
        string url,
        string? body = null,
        params (string Name, string Value)[] headers
    ) => SendAsync(method, url, body is null ? null : Encoding.UTF8.GetBytes(body), headers);

    public async Task<Answer> SendAsync(
        string method,
        string url,
        byte[]? body,
        params (string Name, string Value)[] headers
    )
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), new Uri(Address, url));
        if (body is not null)
        {
            request.Content = new ByteArrayContent(body);
            request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        }

        foreach (var (name, value) in headers)
        {
            if (name is "Content-Encoding")
            {
                request.Content!.Headers.ContentEncoding.Add(value);
            }
            else if (name is "Content-Type")
            {
                request.Content!.Headers.ContentType = MediaTypeHeaderValue.Parse(value);
            }
            else
            {
                request.Headers.TryAddWithoutValidation(name, value);
            }
        }

        using var response = await Http.SendAsync(request);
        return new Answer(
            (int)response.StatusCode,
            await response.Content.ReadAsStringAsync(),
            response.Headers,
            response.Content.Headers.ContentLength
        );
    }

    /// <summary>Returns the number of documents of a database.</summary>
    public async Task<long> CountAsync(string database) =>
        (await SendAsync("GET", database + "/stats/essential")).Json.GetProperty("CountOfDocuments").GetInt64();

    // The timeout is by the machine's clock: with a simulated one, which does not advance by itself, the stop would
    // wait forever for a client that does not read.
    private async Task StopSoonAsync()
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        await _app!.StopAsync(timeout.Token);
    }
}

/// <summary>An HTTP answer.</summary>
public sealed record Answer(int Status, string Body, HttpResponseHeaders Headers, long? ContentLength)
{
    public JsonElement Json => JsonDocument.Parse(Body).RootElement.Clone();

    /// <summary>The ETag header; null if there is none.</summary>
    public string? Tag => Headers.ETag?.Tag;

    /// <summary>
    /// Asserts that the answer is an error in RavenDB's form whose message contains <paramref name="text"/>.
    /// </summary>
    public void IsRefusal(int status, string text)
    {
        Assert.True(Status == status, $"the status is {Status} instead of {status}: {Body}");
        var error = Json;
        foreach (string member in (string[])["Url", "Type", "Message", "Error"])
        {
            Assert.False(string.IsNullOrEmpty(error.GetProperty(member).GetString()), $"the error has a {member}");
        }

        Assert.Contains(text, error.GetProperty("Message").GetString(), StringComparison.OrdinalIgnoreCase);
        Assert.EndsWith("Exception", error.GetProperty("Type").GetString(), StringComparison.Ordinal);
    }
}
