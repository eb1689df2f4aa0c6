namespace Rookery.Redis.Tests;

public sealed class AccessTests : IAsyncLifetime
{
    private readonly RedisServer _server = new() { NeedsCredential = true };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Nothing_is_served_without_a_credential()
    {
        using var client = await _server.ConnectAsync();
        Assert.Equal("-NOAUTH Authentication required.", await client.CallAsync("GET", "a"));
        Assert.Equal("-NOAUTH Authentication required.", await client.CallAsync("PING"));
        Assert.StartsWith("-NOAUTH HELLO", await client.CallAsync("HELLO", "3"), StringComparison.Ordinal);
        Assert.StartsWith("-WRONGPASS", await client.CallAsync("AUTH", "secret"), StringComparison.Ordinal);
        Assert.StartsWith(
            "-WRONGPASS",
            await client.CallAsync("AUTH", "rookery_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_token_authenticates_by_AUTH_or_HELLO()
    {
        using var client = await _server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("AUTH", RedisServer.LocalKey));
        Assert.Equal("+OK", await client.CallAsync("SET", "a", "1"));
        using var other = await _server.ConnectAsync();
        Assert.StartsWith(
            "%7 server",
            await other.CallAsync("HELLO", "3", "AUTH", "default", RedisServer.LocalKey, "SETNAME", "x"),
            StringComparison.Ordinal
        );
        Assert.Equal("x", await other.CallAsync("CLIENT", "GETNAME"));
        string token = await _server.GiveTokenAsync("light", ["read"]);
        Assert.StartsWith(
            "-WRONGPASS The token belongs to",
            await other.CallAsync("AUTH", "x", token),
            StringComparison.Ordinal
        );
        Assert.Equal("+OK", await other.CallAsync("AUTH", "light", token));
    }

    [Fact]
    public async Task Scopes_of_a_token_allow_reads_and_writes_of_the_database()
    {
        using var owner = await _server.ConnectAsync();
        await owner.CallAsync("AUTH", RedisServer.LocalKey);
        await owner.CallAsync("SET", "k", "1");
        using var reader = await _server.ConnectAsync();
        await reader.CallAsync("AUTH", await _server.GiveTokenAsync("reader", ["read"], "redis"));
        Assert.Equal("1", await reader.CallAsync("GET", "k"));
        Assert.StartsWith(
            "-NOPERM 'set' needs the scope write",
            await reader.CallAsync("SET", "k", "2"),
            StringComparison.Ordinal
        );
        Assert.StartsWith("-NOPERM", await reader.CallAsync("PUBLISH", "c", "m"), StringComparison.Ordinal);

        using var writer = await _server.ConnectAsync();
        await writer.CallAsync("AUTH", await _server.GiveTokenAsync("writer", ["write"], "redis"));
        Assert.Equal("+OK", await writer.CallAsync("SET", "k", "2"));
        foreach (
            string[] command in (string[][])
                [
                    ["GET", "k"],
                    ["SET", "k", "3", "GET"],
                    ["GETDEL", "k"],
                    ["SUBSCRIBE", "c"],
                    ["XREAD", "STREAMS", "changes", "0"],
                    ["CLIENT", "KILL", "ID", "1"],
                ]
        )
        {
            Assert.StartsWith("-NOPERM", await writer.CallAsync(command), StringComparison.Ordinal);
        }

        using var elsewhere = await _server.ConnectAsync();
        await elsewhere.CallAsync("AUTH", await _server.GiveTokenAsync("elsewhere", ["read", "write"], "shop"));
        Assert.StartsWith("-NOPERM", await elsewhere.CallAsync("GET", "k"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_revoked_token_ends_at_the_next_command()
    {
        string token = await _server.GiveTokenAsync("short", ["read", "write"]);
        using var client = await _server.ConnectAsync();
        await client.CallAsync("AUTH", token);
        Assert.Equal("+OK", await client.CallAsync("SET", "a", "1"));
        await _server.RevokeAsync(token);
        Assert.Equal("-NOAUTH Authentication required.", await client.CallAsync("GET", "a"));
    }

    [Fact]
    public async Task Large_commands_are_refused_before_the_client_is_known()
    {
        using var client = await _server.ConnectAsync();
        await client.SendAsync("*2\r\n$4\r\nAUTH\r\n$20000\r\n");
        Assert.Equal("-ERR Protocol error: unauthenticated bulk length", await client.ReadAsync());
        Assert.Equal("end", await client.ReadAsync());
    }

    [Fact]
    public async Task A_revoked_token_ends_subscriptions_and_waits()
    {
        _server.Redis.AccessInterval = TimeSpan.FromMilliseconds(20);
        string token = await _server.GiveTokenAsync("short", ["read", "write"]);
        using var subscriber = await _server.ConnectAsync();
        await subscriber.CallAsync("AUTH", token);
        Assert.Equal("*3 subscribe c :1", await subscriber.CallAsync("SUBSCRIBE", "c"));
        using var blocked = await _server.ConnectAsync();
        await blocked.CallAsync("AUTH", token);
        await blocked.CallAsync("SET", "a", "1");
        await blocked.SendAsync(RawClient.Encode("BLPOP", "queue", "0"));
        using var reader = await _server.ConnectAsync();
        await reader.CallAsync("AUTH", token);
        await reader.SendAsync(RawClient.Encode("XREAD", "BLOCK", "0", "STREAMS", "changes", "$"));
        while (_server.Redis.Changes.Waiting < 2)
        {
            await Task.Delay(10);
        }

        await _server.RevokeAsync(token);
        Assert.True(await subscriber.HasEndedAsync());
        Assert.Equal("-NOAUTH Authentication required.", await blocked.ReadAsync());
        Assert.Equal("-NOAUTH Authentication required.", await reader.ReadAsync());
        Assert.Equal("end", await reader.ReadAsync());
    }

    [Fact]
    public async Task A_subscriber_that_authenticates_without_the_right_to_read_hears_no_more()
    {
        using var client = await _server.ConnectAsync();
        await client.CallAsync("HELLO", "3", "AUTH", "default", await _server.GiveTokenAsync("reader", ["read"]));
        Assert.Equal(">3 subscribe c :1", await client.CallAsync("SUBSCRIBE", "c"));
        Assert.Equal("+OK", await client.CallAsync("AUTH", await _server.GiveTokenAsync("writer", ["write"])));
        Assert.Equal("end", await client.ReadAsync());
        for (int i = 0; i < 3_000 && _server.Redis.Channels.Count > 0; i++)
        {
            await Task.Delay(10);
        }

        Assert.Equal(0, _server.Redis.Channels.Count);
    }

    [Fact]
    public async Task Rights_in_another_database_reveal_nothing_of_this_one()
    {
        using var client = await _server.ConnectAsync();
        await client.CallAsync("AUTH", await _server.GiveTokenAsync("elsewhere", ["read", "write"], "shop"));
        Assert.DoesNotContain("rookery_database", await client.CallAsync("INFO"), StringComparison.Ordinal);
        string refusal = await client.CallAsync("GET", "k");
        Assert.StartsWith("-NOPERM", refusal, StringComparison.Ordinal);
        Assert.DoesNotContain("'redis'", refusal, StringComparison.Ordinal);

        using var writer = await _server.ConnectAsync();
        await writer.CallAsync("AUTH", await _server.GiveTokenAsync("writer", ["write"], "redis"));
        Assert.Contains("rookery_database:redis", await writer.CallAsync("INFO"), StringComparison.Ordinal);
        Assert.Contains("database 'redis'", await writer.CallAsync("GET", "k"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_that_may_only_read_creates_no_database()
    {
        using var reader = await _server.ConnectAsync();
        await reader.CallAsync("AUTH", await _server.GiveTokenAsync("reader", ["read"]));
        foreach (
            string[] command in (string[][])
                [
                    ["GET", "k"],
                    ["WATCH", "k"],
                    ["XLEN", "changes"],
                ]
        )
        {
            Assert.StartsWith(
                "-ERR Database 'redis' does not exist",
                await reader.CallAsync(command),
                StringComparison.Ordinal
            );
        }

        Assert.Null(_server.Redis.TryFindDatabase());
        using var writer = await _server.ConnectAsync();
        await writer.CallAsync("AUTH", await _server.GiveTokenAsync("writer", ["write"]));
        Assert.Equal("+OK", await writer.CallAsync("SET", "k", "1"));
        Assert.Equal("1", await reader.CallAsync("GET", "k"));
    }

    [Fact]
    public async Task Only_readers_learn_numbers_that_others_stored()
    {
        using var owner = await _server.ConnectAsync();
        await owner.CallAsync("AUTH", RedisServer.LocalKey);
        await owner.CallAsync("SET", "n", "41");
        using var writer = await _server.ConnectAsync();
        await writer.CallAsync("AUTH", await _server.GiveTokenAsync("writer", ["write"]));
        foreach (
            string[] command in (string[][])
                [
                    ["INCRBY", "n", "0"],
                    ["INCR", "n"],
                    ["DECRBY", "n", "0"],
                    ["INCRBYFLOAT", "n", "0"],
                    ["HINCRBY", "h", "n", "0"],
                    ["JSON.NUMINCRBY", "j", "$", "0"],
                ]
        )
        {
            Assert.StartsWith("-NOPERM", await writer.CallAsync(command), StringComparison.Ordinal);
        }

        Assert.DoesNotContain("db0:", await writer.CallAsync("INFO"), StringComparison.Ordinal);
        Assert.Contains("db0:keys=1", await owner.CallAsync("INFO", "keyspace"), StringComparison.Ordinal);
    }
}
