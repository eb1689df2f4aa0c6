using Rookery.Redis.Messages;

namespace Rookery.Redis.Tests;

public sealed class MemoryTests : IAsyncLifetime
{
    private readonly RedisServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_reply_for_which_there_is_no_memory_is_refused_and_the_connection_lives()
    {
        using var client = await _server.ConnectAsync();
        string value = new('v', 4_000_000);
        Assert.Equal("+OK", await client.CallAsync("SET", "large", value));
        string[] keys = [.. Enumerable.Repeat("large", (int)(_server.Redis.Memory.LimitBytes / value.Length))];
        Assert.StartsWith("-OOM ", await client.CallAsync(["MGET", .. keys]), StringComparison.Ordinal);
        Assert.Equal(value, await client.CallAsync("GET", "large"));
        Assert.Equal("+PONG", await client.CallAsync("PING"));
        Assert.Equal(0, _server.Redis.Memory.UsedBytes);
    }

    [Fact]
    public async Task Commands_of_transactions_take_memory_until_their_end()
    {
        var clients = new List<RawClient>();
        string value = new('v', 4_000_000);
        string? refusal = null;
        while (refusal is null && clients.Count < 64)
        {
            clients.Add(await _server.ConnectAsync());
            Assert.Equal("+OK", await clients[^1].CallAsync("MULTI"));
            string answer = await clients[^1].CallAsync("SET", "queued", value);
            refusal = answer is "+QUEUED" ? null : answer;
        }

        Assert.StartsWith("-OOM ", refusal, StringComparison.Ordinal);
        Assert.StartsWith("-EXECABORT", await clients[^1].CallAsync("EXEC"), StringComparison.Ordinal);
        Assert.Equal("+OK", await clients[0].CallAsync("DISCARD"));
        Assert.Equal("*1 +OK", await clients[1].CallAsync("EXEC"));
        Assert.Equal("+RESET", await clients[2].CallAsync("RESET"));
        clients.ForEach(static client => client.Dispose());
        for (int i = 0; i < 3_000 && _server.Redis.Memory.UsedBytes > 0; i++)
        {
            await Task.Delay(10);
        }

        Assert.Equal(0, _server.Redis.Memory.UsedBytes);
    }

    [Fact]
    public async Task Names_and_messages_that_others_hold_are_short()
    {
        using var client = await _server.ConnectAsync();
        string name = new('n', 2_000);
        Assert.StartsWith(
            "-ERR The name of a channel",
            await client.CallAsync("SUBSCRIBE", name),
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "-ERR The name of a channel",
            await client.CallAsync("PUBLISH", name, "text"),
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "-ERR Client names",
            await client.CallAsync("CLIENT", "SETNAME", name),
            StringComparison.Ordinal
        );
        using var subscriber = await _server.ConnectAsync();
        Assert.Equal("*3 subscribe news :1", await subscriber.CallAsync("SUBSCRIBE", "news"));
        Assert.StartsWith(
            "-ERR A message and its channel have at most",
            await client.CallAsync("PUBLISH", "news", new string('m', MessageFrame.MaxBytes)),
            StringComparison.Ordinal
        );
        Assert.Equal(":1", await client.CallAsync("PUBLISH", "news", "short"));
        Assert.Equal("*3 message news short", await subscriber.ReadAsync());
    }
}
