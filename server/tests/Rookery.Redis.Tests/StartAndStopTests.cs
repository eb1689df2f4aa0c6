namespace Rookery.Redis.Tests;

public sealed class StartAndStopTests
{
    [Fact]
    public async Task A_node_that_opens_its_data_answers_LOADING()
    {
        var server = new RedisServer { IsOpening = true };
        await server.InitializeAsync();
        using (var client = await server.ConnectAsync())
        {
            Assert.StartsWith("-LOADING ", await client.CallAsync("GET", "a"), StringComparison.Ordinal);
        }

        await server.DisposeAsync();
    }

    [Fact]
    public async Task A_stop_ends_connections_that_wait()
    {
        var server = new RedisServer();
        await server.InitializeAsync();
        using (var idle = await server.ConnectAsync())
        using (var subscriber = await server.ConnectAsync())
        using (var blocked = await server.ConnectAsync())
        {
            Assert.Equal("+PONG", await idle.CallAsync("PING"));
            await subscriber.CallAsync("SUBSCRIBE", "c");
            await blocked.SendAsync(RawClient.Encode("XREAD", "BLOCK", "0", "STREAMS", "changes", "$"));
            while (server.Redis.Changes.Waiting == 0)
            {
                await Task.Delay(10);
            }

            await server.StopAsync();
            Assert.True(await idle.HasEndedAsync());
            Assert.True(await subscriber.HasEndedAsync());
            Assert.True(await blocked.HasEndedAsync());
        }

        await server.DisposeAsync();
        Assert.Equal(0, server.Redis.Clients.Count);
        Assert.Equal(0, server.Redis.Memory.UsedBytes);
    }
}
