namespace Rookery.Redis.Tests;

public sealed class BlockingTests : IAsyncLifetime
{
    private readonly RedisServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Blocked_clients_receive_elements_in_the_order_in_which_they_wait()
    {
        using var writer = await _server.ConnectAsync();
        using var first = await _server.ConnectAsync();
        using var second = await _server.ConnectAsync();
        await first.SendAsync(RawClient.Encode("BLPOP", "queue", "other", "0"));
        await WaitForAsync(1);
        await second.SendAsync(RawClient.Encode("BRPOP", "queue", "0"));
        await WaitForAsync(2);
        Assert.Equal(":2", await writer.CallAsync("RPUSH", "queue", "a", "b"));
        Assert.Equal("*2 queue a", await first.ReadAsync());
        Assert.Equal("*2 queue b", await second.ReadAsync());
        Assert.Equal(":0", await writer.CallAsync("LLEN", "queue"));
        Assert.Equal(0, _server.Redis.Changes.Waiting);
    }

    [Fact]
    public async Task A_wait_ends_with_its_timeout_or_its_client()
    {
        using var client = await _server.ConnectAsync();
        Assert.Equal("*-1", await client.CallAsync("BLPOP", "empty", "0.01"));
        Assert.Equal("-ERR timeout is negative", await client.CallAsync("BLPOP", "empty", "-1"));
        Assert.Equal("-ERR timeout is not a float or out of range", await client.CallAsync("BLPOP", "empty", "x"));
        await client.CallAsync("SET", "text", "x");
        Assert.StartsWith("-WRONGTYPE", await client.CallAsync("BLPOP", "text", "0"), StringComparison.Ordinal);
        using (var gone = await _server.ConnectAsync())
        {
            await gone.SendAsync(RawClient.Encode("BLPOP", "empty", "0"));
            await WaitForAsync(1);
        }

        await WaitForAsync(0);
    }

    [Fact]
    public async Task Commands_after_a_blocking_one_are_executed_after_it()
    {
        using var client = await _server.ConnectAsync();
        using var writer = await _server.ConnectAsync();
        await client.SendAsync(
            RawClient.Encode("SET", "before", "1")
                + RawClient.Encode("BLPOP", "q", "0")
                + RawClient.Encode("GET", "after")
        );
        Assert.Equal("+OK", await client.ReadAsync());
        await WaitForAsync(1);
        await writer.CallAsync("SET", "after", "2");
        await writer.CallAsync("LPUSH", "q", "x");
        Assert.Equal("*2 q x", await client.ReadAsync());
        Assert.Equal("2", await client.ReadAsync());
    }

    [Fact]
    public async Task In_a_transaction_a_pop_does_not_wait()
    {
        using var client = await _server.ConnectAsync();
        await client.CallAsync("RPUSH", "first", "a", "b");
        Assert.Equal("+OK", await client.CallAsync("MULTI"));
        Assert.Equal("+QUEUED", await client.CallAsync("BLPOP", "empty", "first", "0"));
        Assert.Equal("+QUEUED", await client.CallAsync("BRPOP", "empty", "0"));
        Assert.Equal("+QUEUED", await client.CallAsync("BRPOP", "first", "x"));
        Assert.Equal("+QUEUED", await client.CallAsync("LLEN", "first"));
        Assert.Equal(
            "*4 *2 first a *-1 -ERR timeout is not a float or out of range :1",
            await client.CallAsync("EXEC")
        );
    }

    [Fact]
    public async Task A_client_waits_for_a_bounded_number_of_keys()
    {
        using var client = await _server.ConnectAsync();
        string[] keys = [.. Enumerable.Range(0, 4097).Select(static i => $"q{i}")];
        Assert.Equal(
            "-ERR A connection waits for at most 4096 keys.",
            await client.CallAsync(["BLPOP", .. keys, "0.01"])
        );
        Assert.Equal("*-1", await client.CallAsync(["BLPOP", .. keys[1..], "0.01"]));
    }

    /// <summary>What was sent before the wait is gone when its reply is removed.</summary>
    [Fact]
    public async Task A_client_receives_no_reply_to_a_wait_that_it_does_not_want()
    {
        using var client = await _server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("SET", "long", new string('x', 100)));
        await client.SendAsync(
            RawClient.Encode("GET", "long")
                + RawClient.Encode("CLIENT", "REPLY", "SKIP")
                + RawClient.Encode("BLPOP", "empty", "0.01")
                + RawClient.Encode("PING")
        );
        Assert.Equal(new string('x', 100), await client.ReadAsync());
        Assert.Equal("+PONG", await client.ReadAsync());
    }

    [Fact]
    public async Task Notifications_reach_a_pattern_that_begins_with_an_escape()
    {
        using var writer = await _server.ConnectAsync();
        Assert.Equal("+OK", await writer.CallAsync("SET", "a", "1")); // creates the database
        using var subscriber = await _server.ConnectAsync();
        Assert.StartsWith(
            "*3 psubscribe",
            await subscriber.CallAsync("PSUBSCRIBE", @"\__keyspace@0__:k"),
            StringComparison.Ordinal
        );
        string? heard = null;
        var hearing = subscriber.ReadAsync();
        for (int i = 0; i < 500 && heard is null; i++)
        {
            Assert.Equal("+OK", await writer.CallAsync("SET", "k", "1")); // again, until the changes are followed
            heard = await Task.WhenAny(hearing, Task.Delay(10)) == hearing ? await hearing : null;
        }

        Assert.Equal(@"*4 pmessage \__keyspace@0__:k __keyspace@0__:k set", heard);
    }

    private async Task WaitForAsync(int waiting)
    {
        for (int i = 0; i < 3_000 && _server.Redis.Changes.Waiting != waiting; i++)
        {
            await Task.Delay(10);
        }

        Assert.Equal(waiting, _server.Redis.Changes.Waiting);
    }
}
