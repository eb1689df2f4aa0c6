using Rookery.Documents.Commands;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Simulation;

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

        // Other members may have revoked the caller's rights since, and they trust this node as a member.
        (await _server.SendAsync("GET", "/admin/logs?node=B", token)).IsRefusal(503, "forwards no requests");
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
