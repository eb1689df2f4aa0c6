using System.Text;
using Rookery.Cluster;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>Stops of a node whose disk is full or does not respond.</summary>
public sealed class StopOnDiskTests
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);

    // What must not happen would have happened within this time.
    private static readonly TimeSpan PauseWithoutChange = TimeSpan.FromMilliseconds(300);

    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public async Task A_stop_waits_for_a_long_sync_and_loses_nothing()
    {
        HeldSyncs? disk = null;
        var server = new RunningServer
        {
            Time = _time,
            WrapDisk = inner => disk = new HeldSyncs(inner, static path => path.Contains("journal-")),
        };
        await server.InitializeAsync();
        string db = await server.CreateDatabaseAsync();
        await PutAsync(server, db, "a");
        disk!.Hold();
        var unanswered = server.SendAsync("PUT", db + "/docs?id=b", "{}");
        await AwaitAsync(() => disk.Held > 0);
        var stopped = server.StopAsync();
        _time.Advance(RookeryServer.StopTimeout);
        await stopped.WaitAsync(Guard);
        await Assert.ThrowsAsync<HttpRequestException>(() => unanswered);
        Assert.Single(server.Log.Lines, static line => line.Contains("cut off", StringComparison.Ordinal));

        // The node is closed as a process closes it, and the close waits for the disk.
        var closed = Task.Run(server.DisposeAsync);
        await Assert.ThrowsAsync<TimeoutException>(() => closed.WaitAsync(PauseWithoutChange));
        disk.Release();
        await closed.WaitAsync(Guard);
        disk.Dispose();
        Assert.Contains("a", ReadIdsAfterRestart(server.Disk, db));

        // The write was in progress, and its client was not told that it failed.
        Assert.Contains("b", ReadIdsAfterRestart(server.Disk, db));
    }

    [Fact]
    public async Task A_node_with_a_full_disk_stops_and_loses_nothing()
    {
        var server = new RunningServer();
        await server.InitializeAsync();
        string db = await server.CreateDatabaseAsync();
        var acknowledged = new List<string>();
        // The disk is full after 100 large documents; small ones follow until the node notices.
        while (await StoreAsync(acknowledged.Count < 100 ? 20_000 : 0))
        {
            if (acknowledged.Count >= 100)
            {
                // Free space is checked once a second.
                server.Disk.CapacityBytes = server.Disk.UsedBytes;
                await Task.Delay(50);
            }
        }

        await server.StopAsync().WaitAsync(Guard);
        await server.DisposeAsync().WaitAsync(Guard);
        Assert.Equal(acknowledged.Count, acknowledged.Count(ReadIdsAfterRestart(server.Disk, db).Contains));

        async Task<bool> StoreAsync(int bytes)
        {
            string id = $"d{acknowledged.Count}";
            string document = $$"""{"t":"{{new string('x', bytes)}}"}""";
            var answer = await server.SendAsync("PUT", $"{db}/docs?id={id}", document);
            if (answer.Status != 201)
            {
                answer.IsRefusal(507, "free");
                return false;
            }

            acknowledged.Add(id);
            return true;
        }
    }

    [Fact]
    public async Task A_clean_stop_that_cannot_be_recorded_is_logged_and_loses_nothing()
    {
        var server = new RunningServer();
        await server.InitializeAsync();
        string db = await server.CreateDatabaseAsync();
        await PutAsync(server, db, "a");
        await server.StopAsync().WaitAsync(Guard);
        server.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Write,
                PathContains = "journal-",
                Sticky = true,
            }
        );
        await server.DisposeAsync().WaitAsync(Guard);
        Assert.Contains("journal-", server.Node.Diagnosis, StringComparison.Ordinal);
        server.Disk.KillProcess();
        Assert.Contains("a", ReadIdsAfterRestart(server.Disk.AfterPowerLoss(seed: 1), db));
    }

    private static async Task PutAsync(RunningServer server, string db, string id) =>
        Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", "{}")).Status);

    private static async Task AwaitAsync(Func<bool> holds)
    {
        while (!holds())
        {
            await Task.Delay(10);
        }
    }

    /// <summary>Starts the node on a disk with room again, and returns the ids of its documents.</summary>
    private static HashSet<string> ReadIdsAfterRestart(SimulatedDisk disk, string db)
    {
        disk.CapacityBytes = 1L << 40;
        using var node = Node.Open(
            new NodeOptions { DataDirectory = "/data", SegmentBytes = 4 << 20 },
            disk,
            new MemoryBudget(256 << 20),
            new IoTimeline(TimeProvider.System, "memory"),
            TimeProvider.System,
            RaftConsensus.Alone
        );
        Assert.Null(node.Diagnosis);
        Assert.True(node.Databases.TryGet(db.Split('/')[^1], out var database));
        using var reader = database.OpenReader();
        var ids = new HashSet<string>(StringComparer.Ordinal);
        using var changes = reader.SeekChanges(afterEtag: 0);
        while (changes.MoveNext())
        {
            ids.Add(Encoding.UTF8.GetString(changes.View.Id));
        }

        return ids;
    }
}
