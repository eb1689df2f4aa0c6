using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Commands;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Simulation;
using static System.StringComparison;

namespace Rookery.Server.Tests.Access;

/// <summary>Access over TLS to a node whose disk failed after it had opened.</summary>
public sealed class FailedDiskAccessTests : IAsyncLifetime
{
    private readonly SecureServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task After_a_disk_failure_known_callers_may_read_but_not_write()
    {
        string token = await _server.GiveTokenAsync(["admin"]);
        string reader = await _server.GiveTokenAsync(["read"]);
        using var certificate = _server.Identity.NewClient("app");
        await _server.RegisterAsync(certificate, isAdmin: true);
        await FailDiskAsync();

        Assert.Equal(200, (await _server.SendAsync("GET", "/metrics", token)).Status);
        Assert.Equal(200, (await _server.SendAsync("GET", "/admin/logs", token)).Status);
        Assert.Equal(200, (await _server.SendAsync("GET", "/metrics", certificate: certificate)).Status);
        Assert.Equal(204, (await _server.SendAsync("POST", "/session", body: $$"""{"Token":"{{token}}"}""")).Status);
        (await _server.SendAsync("GET", "/metrics", reader)).IsRefusal(403, "needs the scope metrics");
        (await _server.SendAsync("GET", "/databases/Shop/docs?id=a", token)).IsRefusal(503, _server.Node.Diagnosis!);

        // The node cannot know whether the caller's rights were revoked, or learn of new callers.
        (await _server.SendAsync("POST", "/admin/node/find", token)).IsRefusal(
            503,
            "Your credential cannot be checked now."
        );
        (await _server.SendAsync("POST", "/admin/node/find", certificate: certificate)).IsRefusal(
            503,
            "Your credential cannot be checked now."
        );
        (await _server.SendAsync("GET", "/metrics", AccessToken.Create())).IsRefusal(
            503,
            "Your credential cannot be checked now."
        );
        (await _server.SendAsync("POST", "/session", body: $$"""{"Token":"{{AccessToken.Create()}}"}""")).IsRefusal(
            503,
            "Your credential cannot be checked now."
        );
        (await _server.SendAsync("GET", "/metrics")).IsRefusal(401, "No credential");
        (await _server.SendAsync("POST", "/admin/node/find", SecureServer.LocalKey)).IsRefusal(501, "without a light");

        // Other members trust what this node forwards, but they may have revoked the caller's rights since the failure.
        (await _server.SendAsync("GET", "/admin/logs?node=B", token)).IsRefusal(503, "forwards no requests");
    }

    [Fact]
    public async Task Without_a_credential_no_answer_shows_a_path()
    {
        string metrics = await _server.GiveTokenAsync(["metrics"]);
        await FailDiskAsync();
        Assert.Contains("/data/", _server.Node.Diagnosis, StringComparison.Ordinal);
        string[] ready = ["/readyz", "/readyz?verbose", "/readyz?words", "/session"];
        foreach (string path in ready)
        {
            Assert.Contains("/data/", (await _server.SendAsync("GET", path, metrics)).Body, StringComparison.Ordinal);
        }

        var routes = ((IEndpointRouteBuilder)_server.App)
            .DataSources.SelectMany(static source => source.Endpoints)
            .OfType<RouteEndpoint>()
            .SelectMany(static endpoint =>
                (endpoint.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["GET"]).Select(method =>
                    (method, path: $"/{endpoint.RoutePattern.RawText!.TrimStart('/')}")
                )
            )
            .Select(static route => (route.method, path: route.path.Replace("{database}", "Shop", Ordinal)));
        foreach (var (method, path) in routes.Concat(ready.Select(static path => ("GET", path))))
        {
            foreach (string? token in (string?[])[null, AccessToken.Create()])
            {
                string body = (await _server.SendAsync(method, path, token)).Body;
                Assert.False(body.Contains("/data/", Ordinal), $"{method} {path}: {body}");
            }
        }
    }

    [Theory]
    [InlineData("Cannot write /srv/rookery data/journal/0.seg: full.", "Cannot write DATA/journal/0.seg: full.")]
    [InlineData("Cannot read /mnt/ssd/j/segment-1.", "Cannot read JOURNAL/segment-1.")]
    [InlineData("Cannot read /mnt/ssd/j2/segment-1 or /mnt/ssd/j.", "Cannot read (a path) or JOURNAL.")]
    [InlineData("See /mnt/ssd/j.json, /old/mnt/ssd/j/x and '/mnt/ssd/j'.", "See (a path), (a path) and 'JOURNAL'.")]
    [InlineData("Read /srv/rookery database/x: full.", "Read (a path) database/x: full.")]
    [InlineData("See \"/etc/rookery/phrase\", or /root/x; /a.", "See \"(a path)\", or (a path); (a path).")]
    [InlineData("Ask http://10.0.0.1:8080/x with a/b, and/or 1/2.", "Ask http://10.0.0.1:8080/x with a/b, and/or 1/2.")]
    public async Task A_sentence_for_callers_without_a_credential_shows_no_path(string sentence, string shown)
    {
        var server = new SecureServer
        {
            Settings =
            [
                new ShownSetting("data", "/srv/rookery data", "option"),
                new ShownSetting("journal", "/mnt/ssd/j/", "option"),
            ],
        };
        await server.InitializeAsync();
        try
        {
            Assert.Equal(shown, new PublicText(server.Context).ForEveryone(sentence));
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    private async Task FailDiskAsync()
    {
        _server.Disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Changing, Sticky = true });
        await _server.Node.Consensus.ProposeAsync(
            CommandEncoder.CreateDatabase("Late", HistoryId.Create()),
            CancellationToken.None
        );
        Assert.NotNull(_server.Node.Diagnosis);
    }
}
