using Rookery.Server.Access;

namespace Rookery.Server.Tests.Access;

/// <summary>A server without TLS, where each caller is an administrator unless a token says otherwise.</summary>
public class PlainAccessTests : IAsyncLifetime
{
    private readonly SecureServer _server = new() { IsSecure = false };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Plain_http_needs_no_credential_but_applies_one_that_is_sent()
    {
        Assert.Equal(404, (await _server.SendAsync("GET", "/databases/Shop/docs?id=none")).Status);
        Assert.Equal(
            404,
            (await _server.SendAsync("GET", "/databases/Shop/docs?id=none", "of-a-proxy-in-front")).Status
        );
        string token = await _server.GiveTokenAsync(["metrics"]);
        (await _server.SendAsync("GET", "/databases/Shop/docs?id=none", token)).IsRefusal(403, "needs the scope read");
        (await _server.SendAsync("GET", "/metrics", "rookery_wrong")).IsRefusal(401, "holds no token");
    }

    [Fact]
    public async Task Plain_http_does_not_advise_to_claim_a_node_that_cannot_be_claimed()
    {
        string unknown = AccessToken.Create();
        foreach (string token in (string[])["rookery_wrong", unknown])
        {
            var answer = await _server.SendAsync("GET", "/metrics", token);
            answer.IsRefusal(401, "needs no credential: leave it out");
            Assert.DoesNotContain("claim", answer.Body, StringComparison.Ordinal);
        }
    }
}
