namespace Rookery.Server.Tests.Access;

public class PlainAccessTests : IAsyncLifetime
{
    private readonly SecureServer server = new() { IsSecure = false };

    public Task InitializeAsync() => server.InitializeAsync();

    public Task DisposeAsync() => server.DisposeAsync();

    [Fact]
    public async Task Plain_http_asks_nobody_who_he_is_and_believes_who_says_it()
    {
        Assert.Equal(404, (await server.SendAsync("GET", "/databases/Shop/docs?id=none")).Status);
        Assert.Equal(404, (await server.SendAsync("GET", "/databases/Shop/docs?id=none", "of-a-proxy-in-front")).Status);
        string token = await server.GiveTokenAsync(["metrics"]);
        (await server.SendAsync("GET", "/databases/Shop/docs?id=none", token)).IsRefusal(403, "needs the scope read");
        (await server.SendAsync("GET", "/metrics", "rookery_wrong")).IsRefusal(401, "holds no token");
    }
}
