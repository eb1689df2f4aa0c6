using StackExchange.Redis;

namespace Rookery.Redis.Tests;

/// <summary>The client of .NET, unmodified.</summary>
public sealed class StackExchangeTests(RedisServer server) : IClassFixture<RedisServer>
{
    [Theory]
    [InlineData(RedisProtocol2)]
    [InlineData(RedisProtocol3)]
    public async Task Strings_hashes_sets_and_lists_are_stored_and_read(string protocol)
    {
        await using var client = await ConnectAsync(protocol);
        var database = client.GetDatabase();
        Assert.True(await database.StringSetAsync($"se:{protocol}", "v", TimeSpan.FromHours(1)));
        Assert.Equal("v", await database.StringGetAsync($"se:{protocol}"));
        Assert.InRange((await database.KeyTimeToLiveAsync($"se:{protocol}"))!.Value.TotalSeconds, 3_000, 3_601);
        await database.HashSetAsync($"se:h{protocol}", [new HashEntry("a", 1), new HashEntry("b", "x")]);
        Assert.Equal(2, (await database.HashGetAllAsync($"se:h{protocol}")).Length);
        Assert.Equal(2, await database.SetAddAsync($"se:s{protocol}", ["x", "y"]));
        Assert.Equal(2, (await database.SetMembersAsync($"se:s{protocol}")).Length);
        Assert.Equal(1, await database.ListRightPushAsync($"se:l{protocol}", "x"));
        Assert.Equal("x", await database.ListLeftPopAsync($"se:l{protocol}"));
        byte[] bytes = [0, 255, 13, 10];
        await database.StringSetAsync("se:bytes", bytes);
        Assert.Equal(bytes, (byte[]?)await database.StringGetAsync("se:bytes"));
    }

    [Fact]
    public async Task A_pipeline_is_answered_in_order()
    {
        await using var client = await ConnectAsync(RedisProtocol2);
        var database = client.GetDatabase();
        await database.KeyDeleteAsync("se:n");
        var replies = Enumerable.Range(0, 500).Select(_ => database.StringIncrementAsync("se:n")).ToArray();
        Assert.Equal(Enumerable.Range(1, 500).Select(static i => (long)i), await Task.WhenAll(replies));
    }

    [Fact]
    public async Task A_transaction_is_executed_only_if_its_condition_holds()
    {
        await using var client = await ConnectAsync(RedisProtocol2);
        var database = client.GetDatabase();
        await database.StringSetAsync("se:tx", "1");
        var transaction = database.CreateTransaction();
        transaction.AddCondition(Condition.StringEqual("se:tx", "1"));
        var incremented = transaction.StringIncrementAsync("se:tx");
        Assert.True(await transaction.ExecuteAsync());
        Assert.Equal(2, await incremented);
        var refused = database.CreateTransaction();
        refused.AddCondition(Condition.StringEqual("se:tx", "1"));
        _ = refused.StringSetAsync("se:tx", "lost");
        Assert.False(await refused.ExecuteAsync());
        Assert.Equal("2", await database.StringGetAsync("se:tx"));
    }

    [Fact]
    public async Task Messages_reach_subscribers()
    {
        await using var client = await ConnectAsync(RedisProtocol2);
        var subscriber = client.GetSubscriber();
        var received = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        await subscriber.SubscribeAsync(
            RedisChannel.Literal("se:news"),
            (_, message) => received.TrySetResult(message)
        );
        Assert.Equal(1, await subscriber.PublishAsync(RedisChannel.Literal("se:news"), "hello"));
        Assert.Equal("hello", await received.Task.WaitAsync(TimeSpan.FromSeconds(30)));
    }

    private const string RedisProtocol2 = "resp2";
    private const string RedisProtocol3 = "resp3";

    private Task<ConnectionMultiplexer> ConnectAsync(string protocol) =>
        ConnectionMultiplexer.ConnectAsync(
            $"127.0.0.1:{server.Port},protocol={protocol},abortConnect=true,connectTimeout=20000,syncTimeout=20000"
        );
}
