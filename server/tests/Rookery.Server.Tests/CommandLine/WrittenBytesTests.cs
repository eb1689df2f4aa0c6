using Rookery.Access;
using Rookery.Bench;
using Rookery.Platform;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The report of `rookery bench` about the disk.</summary>
public sealed class WrittenBytesTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Every_byte_that_the_node_writes_is_counted_and_no_other()
    {
        string db = await server.CreateDatabaseAsync();
        using var client = new NodeClient(new NodeConnection(server.Address, Token: null, Authorities: null));
        var before = await WrittenBytes.ReadAsync(client);
        // A document that compression cannot shorten below 300,000 bytes.
        byte[] noise = new byte[300_000];
        new Random(1).NextBytes(noise);
        string document = $$"""{"noise":"{{Convert.ToHexString(noise)}}"}""";
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=a", document)).Status);
        var after = await WrittenBytes.ReadAsync(client);
        Assert.InRange(after!.Bytes - before!.Bytes, noise.Length, 64 << 20);
        Assert.NotNull(after.SyncSeconds);

        // All kinds of disk calls write, except these.
        IoKind[] others = [IoKind.JournalSync, IoKind.Read, IoKind.Backup, IoKind.Scrub];
        Assert.Equal(
            Enum.GetValues<IoKind>().Except(others).Select(Operations.IoKindName.Of).Order(StringComparer.Ordinal),
            WrittenBytes.Written.Order(StringComparer.Ordinal)
        );
    }

    [Theory]
    // Each connection waits for a sync after each document.
    [InlineData(0.0097, 1, "at most about 8.0 MiB")]
    [InlineData(0.0997, 16, "at most about 1.1 MiB")]
    [InlineData(null, 16, "for 10 s, which wears SD cards.")]
    public void The_estimate_of_written_bytes_follows_from_the_duration_of_a_sync(
        double? syncSeconds,
        int connections,
        string expected
    ) =>
        Assert.Contains(
            expected,
            BenchCommand.Warning(BenchKind.Put, new WrittenBytes(Bytes: 7, syncSeconds), seconds: 10, connections),
            StringComparison.Ordinal
        );
}
