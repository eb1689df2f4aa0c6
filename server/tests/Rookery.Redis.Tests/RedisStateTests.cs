using System.Text.Json;
using Rookery.Server.Alerts;
using Rookery.Server.Operations;

namespace Rookery.Redis.Tests;

/// <summary>What dashboard and metrics show of Redis clients.</summary>
public sealed class RedisStateTests : IAsyncLifetime
{
    private readonly RedisServer _server;
    private Action _forgetOutcomes = static () => { };

    public RedisStateTests() =>
        _server = new()
        {
            ConnectionsLimit = 16,
            WrapConsensus = alone =>
            {
                var consensus = new ForgetfulConsensus(alone);
                _forgetOutcomes = () => consensus.Forgets = true;
                return consensus;
            },
        };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task The_dashboard_gets_the_address_the_clients_and_the_commands()
    {
        using var client = await _server.ConnectAsync();
        using var subscriber = await _server.ConnectAsync();
        using var blocked = await _server.ConnectAsync();
        await client.CallAsync("SET", "a", "1");
        await client.CallAsync("GET", "a");
        await client.CallAsync("HGET", "a", "f");
        await subscriber.CallAsync("SUBSCRIBE", "news");
        await blocked.SendAsync(RawClient.Encode("BLPOP", "queue", "0"));
        for (int i = 0; i < 3_000 && _server.Redis.Changes.Waiting == 0; i++)
        {
            await Task.Delay(10);
        }

        using var http = new HttpClient { BaseAddress = _server.HttpAddress };
        using var state = JsonDocument.Parse(await http.GetStringAsync("/dashboard/redis"));
        var shown = state.RootElement;
        Assert.True(shown.GetProperty("IsOn").GetBoolean());
        Assert.Equal($"127.0.0.1:{_server.Port}", shown.GetProperty("Address").GetString());
        Assert.False(shown.GetProperty("UsesTls").GetBoolean());
        Assert.Equal("redis", shown.GetProperty("Database").GetString());
        Assert.Equal(
            [3L, 15L, 1L, 1L, 1L],
            ((string[])["Clients", "MaxClients", "Subscribers", "Blocked", "Errors"]).Select(name =>
                shown.GetProperty(name).GetInt64()
            )
        );
        Assert.Equal("""{"string":2,"hash":1,"list":1,"pubsub":1}""", shown.GetProperty("Commands").GetRawText());
    }

    [Fact]
    public async Task Commands_of_unknown_outcome_are_counted()
    {
        using var client = await _server.ConnectAsync();
        await client.CallAsync("SET", "a", "1");
        _forgetOutcomes();
        await client.SendAsync(RawClient.Encode("INCR", "a") + RawClient.Encode("INCR", "a"));
        Assert.StartsWith("-UNKNOWNOUTCOME", await client.ReadAsync(), StringComparison.Ordinal);
        Assert.Equal("end", await client.ReadAsync());
        Assert.Equal(2, _server.Redis.ReadState().UnknownOutcomes);
        Assert.Contains(
            "\nrookery_redis_unknown_outcomes_total 2\n",
            MetricsRoute.Collect(_server.Context),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void Every_metric_of_Redis_clients_in_an_alerts_expression_is_exported()
    {
        string exported = MetricsRoute.Collect(_server.Context);
        string[] used =
        [
            .. AlertCatalogue
                .All.SelectMany(static alert => alert.Expression.Split(' ', '(', ')', '[', '{'))
                .Where(static word => word.StartsWith("rookery_redis_", StringComparison.Ordinal))
                .Distinct(StringComparer.Ordinal),
        ];
        Assert.True(used.Length > 2, "the metrics in the expressions are found");
        Assert.All(used, name => Assert.Contains($"\n{name} ", exported, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_client_over_the_limit_is_told_so_and_counted()
    {
        var clients = new List<RawClient>();
        for (int i = 0; i < 15; i++)
        {
            clients.Add(await _server.ConnectAsync());
            Assert.Equal("+PONG", await clients[^1].CallAsync("PING"));
        }

        using var further = await _server.ConnectAsync();
        Assert.StartsWith("-ERR max number of clients reached", await further.ReadAsync(), StringComparison.Ordinal);
        Assert.Equal("end", await further.ReadAsync());
        Assert.Equal((15, 1L), (_server.Redis.ReadState().Clients, _server.Redis.ReadState().Refused));
        clients.ForEach(static client => client.Dispose());
    }
}
