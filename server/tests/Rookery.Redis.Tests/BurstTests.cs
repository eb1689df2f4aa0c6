namespace Rookery.Redis.Tests;

/// <summary>
/// Commands that arrive together become one entry of the log, whose bounds are not those of one command.
/// </summary>
public sealed class BurstTests : IAsyncLifetime
{
    private readonly RedisServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Commands_that_store_too_much_together_are_carried_out_in_parts()
    {
        const int Pushes = 41; // each stores 2 MB, and an entry at most 32 MiB
        using var client = await _server.ConnectAsync();
        Assert.Equal(":1", await client.CallAsync("RPUSH", "list", new string('v', 2_000_000)));
        string burst = string.Concat(
            Enumerable.Range(2, Pushes).Select(static number => RawClient.Encode("RPUSH", "list", $"{number}"))
        );
        await client.SendAsync(burst);
        for (int length = 2; length < 2 + Pushes; length++)
        {
            Assert.Equal($":{length}", await client.ReadAsync());
        }

        Assert.Equal("*2 41 42", await client.CallAsync("LRANGE", "list", "40", "41"));
    }

    [Fact]
    public async Task Without_space_the_commands_of_a_burst_that_only_read_or_delete_are_carried_out()
    {
        using var client = await _server.ConnectAsync();
        Assert.Equal("+OK", await client.CallAsync("SET", "kept", "1"));
        Assert.Equal("+OK", await client.CallAsync("SET", "deleted", "1"));
        _server.Disk.CapacityBytes = _server.Disk.UsedBytes;

        // Free space is checked once a second.
        string kept = "1";
        for (int next = 2; await client.CallAsync("SET", "kept", $"{next}") is "+OK"; next++)
        {
            kept = $"{next}";
            await Task.Delay(50);
        }

        await client.SendAsync(
            RawClient.Encode("SET", "kept", "3")
                + RawClient.Encode("DEL", "deleted")
                + RawClient.Encode("GET", "kept")
                + RawClient.Encode("EXISTS", "deleted")
                + RawClient.Encode("INCR", "kept")
        );
        Assert.StartsWith("-OOM ", await client.ReadAsync(), StringComparison.Ordinal);
        Assert.Equal(":1", await client.ReadAsync());
        Assert.Equal(kept, await client.ReadAsync());
        Assert.Equal(":0", await client.ReadAsync());
        Assert.StartsWith("-OOM ", await client.ReadAsync(), StringComparison.Ordinal);
    }
}
