using Rookery.Platform;

namespace Rookery.Redis.Tests;

/// <summary>Commands of the connection that read documents, while these are damaged on the disk.</summary>
public sealed class DamageTests : IAsyncLifetime
{
    private const int Keys = 300;

    private readonly RedisServer _server = new() { MemtableBytes = 256 << 10 };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task Damage_is_the_answer_of_a_command_and_the_connection_lives()
    {
        using var client = await _server.ConnectAsync();
        var random = new Random(1);
        for (int i = 0; i < Keys; i++)
        {
            byte[] noise = new byte[8 << 10];
            random.NextBytes(noise);
            Assert.Equal(":1", await client.CallAsync("RPUSH", $"list{i}", Convert.ToBase64String(noise)));
        }

        await RotRunsAsync();
        int damaged = 0;
        for (int i = 0; i < Keys; i++)
        {
            foreach (
                string[] command in (string[][])
                    [
                        ["WATCH", $"list{i}"],
                        ["BLPOP", $"list{i}", "0.01"],
                    ]
            )
            {
                string reply = await client.CallAsync(command);
                Assert.DoesNotContain("a fault of its own", reply, StringComparison.Ordinal);
                Assert.NotEqual("end", reply);
                damaged += reply.StartsWith("-ERR", StringComparison.Ordinal) ? 1 : 0;
            }
        }

        Assert.StartsWith("-ERR", await client.CallAsync("XRANGE", "changes", "-", "+"), StringComparison.Ordinal);
        Assert.Equal("+PONG", await client.CallAsync("PING"));
        Assert.True(damaged > 0, "some list is damaged");
    }

    private async Task RotRunsAsync()
    {
        string[] runs = [];
        for (int i = 0; i < 3_000 && runs.Length == 0; i++)
        {
            await Task.Delay(10);
            runs = [.. _server.Disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal))];
        }

        foreach (string run in runs)
        {
            long length;
            using (var file = _server.Disk.Open(run, DiskOpen.Read))
            {
                length = file.Length;
            }

            for (long offset = 5_000; offset < length - 5_000; offset += 5_000)
            {
                _server.Disk.Rot(run, offset, mask: 1);
            }
        }
    }
}
