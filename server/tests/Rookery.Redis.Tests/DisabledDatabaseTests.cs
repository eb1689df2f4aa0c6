using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Redis.Tests;

/// <summary>Redis clients of a member that lags while the database is disabled and enabled.</summary>
public sealed class DisabledDatabaseTests : IAsyncLifetime
{
    private readonly RedisServer _server;
    private Action<Func<IConsensus, Task>> _setBarrier = null!;

    public DisabledDatabaseTests() =>
        _server = new()
        {
            WrapConsensus = alone =>
            {
                var consensus = new ForgetfulConsensus(alone);
                _setBarrier = run => consensus.AtBarrier = run;
                return consensus;
            },
        };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_read_learns_only_after_the_read_barrier_whether_the_database_is_disabled()
    {
        using var client = await _server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("SET", "a", "1"));
        SetDisabledAtNextBarrier(isDisabled: true);
        Assert.Contains("is disabled", await client.CallAsync("GET", "a"), StringComparison.Ordinal);
        SetDisabledAtNextBarrier(isDisabled: false);
        Assert.Equal("1", await client.CallAsync("GET", "a"));
    }

    private void SetDisabledAtNextBarrier(bool isDisabled) =>
        _setBarrier(async consensus =>
        {
            _setBarrier(static _ => Task.CompletedTask);
            Assert.True(_server.Context.Node.Databases.TryGet("redis", out var database));
            byte[] text = isDisabled ? [.. "true"u8] : [.. "false"u8];
            Assert.Null(
                (
                    await consensus.ProposeAsync(
                        CommandEncoder.SetConfiguration(database.Number, ConfigurationName.Disabled, text),
                        CancellationToken.None
                    )
                ).Rejection
            );
        });
}
