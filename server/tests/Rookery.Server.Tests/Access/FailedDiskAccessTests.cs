using Rookery.Disk;
using Rookery.Documents.Commands;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Access;

/// <summary>A node whose disk failed after it had opened: who looks at it over TLS, and what he may.</summary>
public sealed class FailedDiskAccessTests : IAsyncLifetime
{
    private readonly SecureServer server = new();

    public Task InitializeAsync() => server.InitializeAsync();

    public Task DisposeAsync() => server.DisposeAsync();

    [Fact]
    public async Task Whom_it_knew_may_still_look_and_change_nothing()
    {
        string token = await server.GiveTokenAsync(["admin"]);
        string reader = await server.GiveTokenAsync(["read"]);
        using var certificate = server.Identity.NewClient("app");
        await server.RegisterAsync(certificate, isAdmin: true);
        await FailDiskAsync();

        Assert.Equal(200, (await server.SendAsync("GET", "/metrics", token)).Status);
        Assert.Equal(200, (await server.SendAsync("GET", "/admin/logs", token)).Status);
        Assert.Equal(200, (await server.SendAsync("GET", "/metrics", certificate: certificate)).Status);
        Assert.Equal(204, (await server.SendAsync("POST", "/session", body: $$"""{"Token":"{{token}}"}""")).Status);
        (await server.SendAsync("GET", "/metrics", reader)).IsRefusal(403, "needs the scope metrics");
        (await server.SendAsync("GET", "/databases/Shop/docs?id=a", token)).IsRefusal(503, server.Node.Diagnosis!);

        // Whether they may still do anything, and whom it never heard of, it cannot say.
        (await server.SendAsync("POST", "/admin/node/find", token)).IsRefusal(503, "Who you are cannot be checked now.");
        (await server.SendAsync("POST", "/admin/node/find", certificate: certificate)).IsRefusal(503, "Who you are cannot be checked now.");
        (await server.SendAsync("GET", "/metrics", AccessToken.Create())).IsRefusal(503, "Who you are cannot be checked now.");
        (await server.SendAsync("POST", "/session", body: $$"""{"Token":"{{AccessToken.Create()}}"}""")).IsRefusal(503, "Who you are cannot be checked now.");
        (await server.SendAsync("GET", "/metrics")).IsRefusal(401, "No credential");
        (await server.SendAsync("POST", "/admin/node/find", SecureServer.LocalKey)).IsRefusal(501, "without a light");

        // Others may have shut them out since, and trust it as a member.
        (await server.SendAsync("GET", "/admin/logs?node=B", token)).IsRefusal(503, "passes nothing on to others");
    }

    private async Task FailDiskAsync()
    {
        server.Disk.Inject(new DiskFault(1, Errno.InputOutput) { Calls = DiskCalls.Changing, Sticky = true });
        await server.Node.Consensus.ProposeAsync(CommandEncoder.CreateDatabase("Late", HistoryId.Create()), CancellationToken.None);
        Assert.NotNull(server.Node.Diagnosis);
    }
}
