using System.Security.Cryptography.X509Certificates;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>A worker needs the same certificate and right as a reader over HTTP.</summary>
public sealed class SubscriptionAccessTests(SecureServer server) : IClassFixture<SecureServer>
{
    [Fact]
    public async Task A_worker_needs_a_registered_certificate_with_the_right_to_read()
    {
        await server.SendAsync(
            "PUT",
            "/databases/Shop/subscriptions",
            SecureServer.LocalKey,
            """{"Name":"s","Query":"from Users"}"""
        );
        using var reader = server.Identity.NewClient("reader");
        using var elsewhere = server.Identity.NewClient("elsewhere");
        Assert.Contains("No client certificate", await RefusalAsync(certificate: null), StringComparison.Ordinal);
        Assert.Contains("is not registered here", await RefusalAsync(reader), StringComparison.Ordinal);
        await server.RegisterAsync(reader, isAdmin: false, ("Shop", "ro"));
        await server.RegisterAsync(elsewhere, isAdmin: false, ("Other", "rw"));
        Assert.Null(await RefusalAsync(reader));
        Assert.Contains("scope read in database 'Shop'", await RefusalAsync(elsewhere), StringComparison.Ordinal);
    }

    private async Task<string?> RefusalAsync(X509Certificate2? certificate)
    {
        using var worker = await TcpWorker.ConnectAsync(server.Context.Subscriptions.Port!());
        await worker.SecureAsync(certificate);
        await worker.SendAsync(TcpWorker.Header("Shop"));
        var answer = await worker.ReadAsync();
        if (TcpWorker.Status(answer) is "AuthorizationFailed")
        {
            return answer.GetProperty("Message").GetString();
        }

        await worker.SendAsync("""{"SubscriptionName":"s"}""");
        Assert.Equal("Accepted", TcpWorker.Status(await worker.ReadAsync()));
        return null;
    }
}
