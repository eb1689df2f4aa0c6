using System.Net;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>What a server answers before its data is open, and which requests it refuses in general.</summary>
public sealed class RequestGateTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider _clock = new();
    private readonly ServerContext _context;
    private WebApplication _app = null!;
    private HttpClient _client = null!;

    public RequestGateTests() =>
        _context = new ServerContext(
            new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) },
            _clock,
            NullLogger.Instance,
            new MemoryBudget(96 << 20),
            new IoTimeline(_clock, "mmcblk0p2", "sda1")
        );

    public async Task InitializeAsync()
    {
        _app = RookeryServer.Build(_context, host => host.UseTestServer());
        await _app.StartAsync();
        _client = _app.GetTestClient();
    }

    public async Task DisposeAsync()
    {
        _client.Dispose();
        await _app.DisposeAsync();
    }

    [Fact]
    public async Task Log_lines_caused_by_strangers_do_not_suppress_faults_of_the_node()
    {
        var log = new RecordedLog();
        var options = new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) };
        var io = new IoTimeline(_clock, "memory");
        var server = new ServerContext(options, _clock, log, new MemoryBudget(96 << 20), io);
        // Strangers use up the rate of log lines about requests. A fault on a route that is open to them counts as
        // theirs; a fault on a route that needs a credential does not.
        for (int i = 0; i < 1000; i++)
        {
            server.RequestLog.LogError("a stranger's line");
        }

        foreach (var scope in (RouteScope[])[RouteScope.Open, RouteScope.Read])
        {
            var http = new DefaultHttpContext();
            http.SetEndpoint(new Endpoint(null, new EndpointMetadataCollection(scope, WithoutData.Instance), null));
            var gate = new RequestGate(server, _ => throw new InvalidOperationException($"fault of {scope.Name}"));
            await gate.HandleAsync(http);
            Assert.Equal(500, http.Response.StatusCode);
        }

        string logged = Assert.Single(log.Lines, static line => line.Contains("fault of", StringComparison.Ordinal));
        Assert.Contains("fault of read", logged, StringComparison.Ordinal);
    }

    /// <summary>A query is sent by POST. An earlier version reported its lack of memory as a fault of the
    /// node.</summary>
    [Theory]
    [InlineData("GET", true)]
    [InlineData("POST", true)]
    [InlineData("GET", false)]
    [InlineData("POST", false)]
    public async Task A_read_without_memory_may_be_tried_again_and_a_write_is_not_known_to_have_done_nothing(
        string method,
        bool isRead
    )
    {
        var scope = isRead ? RouteScope.Read : RouteScope.Write;
        var http = new DefaultHttpContext();
        http.Request.Method = method;
        http.SetEndpoint(new Endpoint(null, new EndpointMetadataCollection(scope, WithoutData.Instance), null));
#pragma warning disable CA2201, MA0012 // The runtime throws this exception.
        await new RequestGate(_context, static _ => throw new OutOfMemoryException()).HandleAsync(http);
#pragma warning restore CA2201, MA0012
        Assert.Equal(isRead ? 429 : 500, http.Response.StatusCode);
        Assert.Equal(isRead ? "1" : null, (string?)http.Response.Headers.RetryAfter);
    }

    [Theory]
    [InlineData("/livez")]
    [InlineData("/metrics")]
    [InlineData("/debug/io")]
    [InlineData("/help")]
    [InlineData("/help/how-to/cluster.md")]
    [InlineData("/help/how-to/cluster")]
    [InlineData("/")]
    public async Task Routes_that_need_no_documents_answer_before_the_data_is_open(string path) =>
        Assert.Equal(HttpStatusCode.OK, (await _client.GetAsync(path)).StatusCode);

    [Theory]
    [InlineData("/livez", HttpStatusCode.OK)]
    [InlineData("/readyz", HttpStatusCode.ServiceUnavailable)]
    [InlineData("/readyz?verbose", HttpStatusCode.ServiceUnavailable)]
    [InlineData("/metrics", HttpStatusCode.OK)]
    [InlineData("/debug/io", HttpStatusCode.OK)]
    [InlineData("/help", HttpStatusCode.OK)]
    [InlineData("/", HttpStatusCode.OK)]
    public async Task Routes_that_need_no_documents_answer_HEAD(string path, HttpStatusCode status)
    {
        using var request = new HttpRequestMessage(HttpMethod.Head, path);
        Assert.Equal(status, (await _client.SendAsync(request)).StatusCode);
    }

    [Theory]
    [InlineData("/databases/any/docs?id=a")]
    [InlineData("/no/such/route")]
    public async Task Before_the_data_is_open_other_routes_answer_503_in_RavenDBs_error_form(string path)
    {
        var answer = await _client.GetAsync(path);
        using var body = JsonDocument.Parse(await answer.Content.ReadAsStringAsync());

        Assert.Equal(HttpStatusCode.ServiceUnavailable, answer.StatusCode);
        Assert.Equal(path, body.RootElement.GetProperty("Url").GetString());
        Assert.StartsWith(
            "Raven.Client.Exceptions.",
            body.RootElement.GetProperty("Type").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(_context.Readiness.Reason, body.RootElement.GetProperty("Message").GetString());
        Assert.EndsWith(
            _context.Readiness.Reason!,
            body.RootElement.GetProperty("Error").GetString(),
            StringComparison.Ordinal
        );
    }

    // The host of the request, one more header, and the status. "Accept" stands for no special header.
    [Theory]
    [InlineData("evil.example:8080", "Accept", "*/*", HttpStatusCode.Forbidden)]
    [InlineData("192.168.0.7:8080", "Accept", "*/*", HttpStatusCode.Forbidden)]
    [InlineData("localhost:8080", "Origin", "http://evil.example", HttpStatusCode.Forbidden)]
    [InlineData("localhost:8080", "Origin", "http://localhost:3000", HttpStatusCode.Forbidden)]
    [InlineData("localhost:8080", "Origin", "null", HttpStatusCode.Forbidden)]
    [InlineData("localhost:8080", "Sec-Fetch-Site", "cross-site", HttpStatusCode.Forbidden)]
    [InlineData("localhost:8080", "Sec-Fetch-Site", "same-site", HttpStatusCode.Forbidden)]
    [InlineData("localhost:8080", "Sec-Fetch-Site", "same-origin", HttpStatusCode.OK)]
    [InlineData("LOCALHOST:8080", "Origin", "http://localhost:8080", HttpStatusCode.OK)]
    [InlineData("127.0.0.1:8080", "Accept", "*/*", HttpStatusCode.OK)]
    [InlineData("[::1]:8080", "Accept", "*/*", HttpStatusCode.OK)]
    public async Task Pages_of_other_sites_may_not_use_a_node_without_credentials(
        string host,
        string header,
        string value,
        HttpStatusCode status
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/livez") { Headers = { Host = host } };
        request.Headers.Add(header, value);
        using var answer = await _client.SendAsync(request);
        Assert.Equal(status, answer.StatusCode);
        if (status == HttpStatusCode.Forbidden)
        {
            using var body = JsonDocument.Parse(await answer.Content.ReadAsStringAsync());
            Assert.EndsWith(
                "AuthorizationException",
                body.RootElement.GetProperty("Type").GetString(),
                StringComparison.Ordinal
            );
        }
    }

    [Fact]
    public async Task Readyz_reports_why_the_node_is_not_ready()
    {
        var answer = await _client.GetAsync("/readyz");
        using var verbose = JsonDocument.Parse(
            await (await _client.GetAsync("/readyz?verbose")).Content.ReadAsStringAsync()
        );

        Assert.False(verbose.RootElement.GetProperty("Ready").GetBoolean());
        Assert.Equal(_context.Readiness.Reason, verbose.RootElement.GetProperty("Reason").GetString());
        Assert.Equal(HttpStatusCode.ServiceUnavailable, answer.StatusCode);
        Assert.Equal(_context.Readiness.Reason + "\n", await answer.Content.ReadAsStringAsync());
    }

    [Fact]
    public async Task Requests_are_counted_by_route_and_class()
    {
        await _client.GetAsync("/livez");
        await _client.GetAsync("/readyz");
        string metrics = await _client.GetStringAsync("/metrics");

        Assert.Contains(
            "rookery_http_requests_total{route=\"/livez\",status=\"2xx\"} 1\n",
            metrics,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "rookery_http_requests_total{route=\"/readyz\",status=\"5xx\"} 1\n",
            metrics,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "rookery_http_request_duration_seconds_count{route=\"/livez\"} 1\n",
            metrics,
            StringComparison.Ordinal
        );
        Assert.Contains("rookery_ready 0\n", metrics, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/debug/io?since=yesterday")]
    [InlineData("/debug/io?span=0")]
    [InlineData("/debug/io?span=-1")]
    [InlineData("/debug/io?until=tomorrow")]
    [InlineData("/debug/io?since=2&until=1")]
    [InlineData("/debug/io?only=events")]
    public async Task An_invalid_span_of_disk_operations_is_refused(string path) =>
        Assert.Equal(HttpStatusCode.BadRequest, (await _client.GetAsync(path)).StatusCode);

    [Fact]
    public async Task Disk_operations_are_sent_in_columns()
    {
        _context.Io.Record(IoKind.JournalSync, _context.Io.Begin(), 0);
        // The current microsecond is not reported yet.
        _clock.Advance(TimeSpan.FromMicroseconds(1));
        using var answer = JsonDocument.Parse(await _client.GetStringAsync("/debug/io?span=1"));
        var events = answer.RootElement.GetProperty("Events");

        Assert.Equal(
            ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"],
            events.GetProperty("Columns").EnumerateArray().Select(column => column.GetString()!)
        );
        Assert.Equal("journal_sync", events.GetProperty("Rows")[0][0].GetString());
        Assert.Equal("journal_sync", answer.RootElement.GetProperty("RollUps").GetProperty("Rows")[0][1].GetString());
        Assert.Equal(_context.Options.NodeTag, answer.RootElement.GetProperty("Node").GetString());
        Assert.Equal("mmcblk0p2", answer.RootElement.GetProperty("Devices").GetProperty("Journal").GetString());
        Assert.Equal("sda1", answer.RootElement.GetProperty("Devices").GetProperty("Data").GetString());
    }

    [Fact]
    public async Task Totals_of_disk_operations_can_be_sent_alone()
    {
        _context.Io.Record(IoKind.JournalSync, _context.Io.Begin(), 0);
        using var answer = JsonDocument.Parse(await _client.GetStringAsync("/debug/io?span=1&only=rollups"));

        Assert.Equal(1, answer.RootElement.GetProperty("RollUps").GetProperty("Rows").GetArrayLength());
        Assert.False(answer.RootElement.TryGetProperty("Events", out _));
        Assert.False(answer.RootElement.TryGetProperty("SlowEvents", out _));
    }

    [Fact]
    public async Task Disk_operations_are_sent_between_two_times()
    {
        using var first = JsonDocument.Parse(await _client.GetStringAsync("/debug/io"));
        long until = first.RootElement.GetProperty("Events").GetProperty("UntilUnixMicroseconds").GetInt64();
        _context.Io.Record(IoKind.JournalWrite, _context.Io.Begin(), 4096);
        _clock.Advance(TimeSpan.FromMicroseconds(1));

        using var next = JsonDocument.Parse(await _client.GetStringAsync($"/debug/io?since={until}"));
        using var before = JsonDocument.Parse(await _client.GetStringAsync($"/debug/io?until={until - 10_000_000}"));
        Assert.Equal(until, next.RootElement.GetProperty("Events").GetProperty("FromUnixMicroseconds").GetInt64());
        Assert.Equal(1, next.RootElement.GetProperty("Events").GetProperty("Rows").GetArrayLength());
        Assert.Equal(0, before.RootElement.GetProperty("Events").GetProperty("Rows").GetArrayLength());
        Assert.Equal(0, before.RootElement.GetProperty("RollUps").GetProperty("Rows").GetArrayLength());
    }
}
