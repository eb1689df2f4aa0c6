using Rookery.Documents.Commands;

namespace Rookery.Redis.Tests;

public sealed class DatabaseTests : IAsyncLifetime
{
    private readonly RedisServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_transaction_does_not_take_a_new_database_for_the_one_that_it_watched()
    {
        using var client = await _server.ConnectAsync();
        using var other = await _server.ConnectAsync();
        await client.CallAsync("SET", "other", "1");
        Assert.Equal("+OK", await client.CallAsync("WATCH", "absent"));
        await ProposeAsync(CommandEncoder.DeleteDatabases(["redis"]));
        Assert.Equal("+OK", await other.CallAsync("SET", "other", "2"));
        await client.CallAsync("MULTI");
        await client.CallAsync("SET", "absent", "mine");
        Assert.Equal("*-1", await client.CallAsync("EXEC"));
        Assert.Equal("nil ", await client.CallAsync("GET", "absent"));

        // The watch ended with the transaction.
        await client.CallAsync("MULTI");
        await client.CallAsync("SET", "absent", "mine");
        Assert.Equal("*1 +OK", await client.CallAsync("EXEC"));
    }

    private async Task ProposeAsync(CommandBuffer command) =>
        Assert.Null((await _server.Node.Consensus.ProposeAsync(command, CancellationToken.None)).Rejection);
}
