using System.Text;
using Rookery.Documents.Commands;
using Rookery.Redis.Changes;
using Rookery.Server.Operations;

namespace Rookery.Redis.Tests;

/// <summary>Keyspace notifications that a node misses, and the subscribers that would miss them silently.</summary>
public sealed class NotificationTests : IAsyncLifetime
{
    // More than the node keeps for itself while it does not read them.
    private const int ManyKeys = 6000;

    private readonly RedisServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Subscribers_are_disconnected_when_the_node_lags_and_drops_notifications()
    {
        using var writer = await _server.ConnectAsync();
        Assert.Equal("+OK", await writer.CallAsync("SET", "a", "1"));
        var notified = new List<RawClient>();
        foreach (string pattern in (string[])["__keyspace@0__:*", "*", "__keyevent@0__:se?"])
        {
            notified.Add(await SubscribeAsync("PSUBSCRIBE", pattern));
        }

        notified.Add(await SubscribeAsync("SUBSCRIBE", "__keyevent@0__:del"));
        using var other = await SubscribeAsync("PSUBSCRIBE", "news:*");

        using var isHeld = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var holding = Task.Run(() =>
            _server.Redis.Channels.Add(
                subscriber: null!,
                "held"u8.ToArray(),
                isPattern: false,
                () =>
                {
                    isHeld.Set();
                    mayGoOn.Wait();
                }
            )
        );
        isHeld.Wait();
        try
        {
            string[] values = [.. Enumerable.Range(0, 2 * ManyKeys).Select(static i => $"k{i / 2}")];
            Assert.Equal("+OK", await writer.CallAsync(["MSET", .. values]));
        }
        finally
        {
            mayGoOn.Set();
        }

        await holding;
        foreach (var client in notified)
        {
            Assert.True(await client.HasEndedAsync());
            client.Dispose();
        }

        await writer.CallAsync("PUBLISH", "news:1", "hello");
        Assert.Equal("*4 pmessage news:* news:1 hello", await other.ReadAsync());
        Assert.Contains(
            "\nrookery_redis_lost_notifications_total 4\n",
            MetricsRoute.Collect(_server.Context),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Subscribers_are_disconnected_when_the_database_was_deleted_and_created_again()
    {
        using var writer = await _server.ConnectAsync();
        Assert.Equal("+OK", await writer.CallAsync("SET", "a", "1"));
        using var subscriber = await SubscribeAsync("PSUBSCRIBE", "__keyspace@0__:*");
        var deleted = await _server.Node.Consensus.ProposeAsync(
            CommandEncoder.DeleteDatabases(["redis"]),
            CancellationToken.None
        );
        Assert.Null(deleted.Rejection);
        Assert.Equal("+OK", await writer.CallAsync("SET", "b", "1"));
        Assert.True(await subscriber.HasEndedAsync());
    }

    [Theory]
    [InlineData("__keyspace@0__:a", false, true)]
    [InlineData("__keyspace@0__:", true, true)]
    [InlineData("__keyspace@0__:a*", true, true)]
    [InlineData("__keyspace@1__:*", true, false)]
    [InlineData("__keyevent@0__:*", true, true)]
    [InlineData("__keyevent@0__:set", true, true)]
    [InlineData("__keyevent@0__:del", false, true)]
    [InlineData("__keyevent@0__:expired", false, false)]
    [InlineData("__keyevent@0__:s", true, false)]
    [InlineData("__keyevent@0__:setx*", true, false)]
    [InlineData("__*", false, false)]
    [InlineData("__*", true, true)]
    [InlineData("?_key", true, true)]
    [InlineData("", true, false)]
    [InlineData("news:*", true, false)]
    public void A_name_that_notifications_may_reach_is_recognised(string name, bool isPattern, bool isReached) =>
        Assert.Equal(isReached, KeyspaceNotification.MayReach(Encoding.UTF8.GetBytes(name), isPattern));

    [Fact]
    public async Task The_patterns_of_a_connection_are_bounded_together()
    {
        using var client = await _server.ConnectAsync();
        string[] patterns = [.. Enumerable.Range(0, 65).Select(static i => $"{i:00}{new string('a', 1022)}")];
        foreach (string pattern in patterns[..64])
        {
            Assert.StartsWith("*3 psubscribe", await client.CallAsync("PSUBSCRIBE", pattern), StringComparison.Ordinal);
        }

        Assert.StartsWith(
            "-ERR The patterns",
            await client.CallAsync("PSUBSCRIBE", patterns[64]),
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "*3 punsubscribe",
            await client.CallAsync("PUNSUBSCRIBE", patterns[0]),
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "*3 psubscribe",
            await client.CallAsync("PSUBSCRIBE", patterns[64]),
            StringComparison.Ordinal
        );
        Assert.StartsWith("*3 subscribe", await client.CallAsync("SUBSCRIBE", patterns[0]), StringComparison.Ordinal);
    }

    private async Task<RawClient> SubscribeAsync(string command, string name)
    {
        var client = await _server.ConnectAsync();
        Assert.StartsWith("*3 ", await client.CallAsync(command, name), StringComparison.Ordinal);
        return client;
    }
}
