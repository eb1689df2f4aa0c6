using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// The removal of tombstones. The horizon is the etag through which they are removed. It rises when the oldest
/// tombstone is 25 hours old, to the last tombstone that is 24 hours old.
/// </summary>
public sealed class TombstoneCleaningTests
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));

    [Fact]
    public async Task Tombstones_are_removed_after_a_day_and_the_horizon_rises()
    {
        using var node = Open();
        Delete(node, "a");
        long first = ReadStatistics(node).LastDocumentEtag;
        _time.Advance(TimeSpan.FromHours(2));
        Delete(node, "b");

        _time.Advance(TimeSpan.FromHours(22));
        await CleanAsync(node);
        Assert.Equal((2, 0), (ReadStatistics(node).Tombstones, ReadStatistics(node).TombstoneHorizon));

        _time.Advance(TimeSpan.FromMinutes(61));
        await CleanAsync(node);
        Assert.Equal((1, first), (ReadStatistics(node).Tombstones, ReadStatistics(node).TombstoneHorizon));
        Assert.Equal(["b"], ReadTombstones(node));

        _time.Advance(TimeSpan.FromHours(3));
        await CleanAsync(node);
        Assert.Empty(ReadTombstones(node));
    }

    [Fact]
    public async Task Cleaning_writes_nothing_without_old_tombstones()
    {
        using var node = Open();
        Delete(node, "a");
        int operations = _disk.OperationCount;
        await CleanAsync(node);
        Assert.Equal(operations, _disk.OperationCount);

        _time.Advance(TimeSpan.FromDays(2));
        await CleanAsync(node);
        Assert.Empty(ReadTombstones(node));
        operations = _disk.OperationCount;
        _time.Advance(TimeSpan.FromDays(2));
        await CleanAsync(node);
        Assert.Equal(operations, _disk.OperationCount);
    }

    [Fact]
    public async Task More_tombstones_than_fit_into_one_command_are_all_removed()
    {
        using var node = Open();
        using var writer = new BatchWriter(CommandKind.Batch, node.Database("db").Number);
        using var deletes = new BatchWriter(CommandKind.Batch, node.Database("db").Number);
        const int Count = 20_000;
        for (int i = 0; i < Count; i++)
        {
            byte[] id = System.Text.Encoding.UTF8.GetBytes($"d/{i}");
            writer.Put(id, default, default);
            deletes.Delete(id, default);
        }

        node.Run(writer.Complete());
        node.Run(deletes.Complete());
        Assert.Equal(Count, ReadStatistics(node).Tombstones);
        _time.Advance(TimeSpan.FromDays(2));
        await CleanAsync(node);
        Assert.Equal(0, ReadStatistics(node).Tombstones);
        Assert.Empty(ReadTombstones(node));
    }

    [Fact]
    public void A_horizon_beyond_all_etags_is_lowered_to_the_last_etag()
    {
        using var node = Open();
        Delete(node, "a");
        long last = ReadStatistics(node).LastEtag;
        node.Run(CommandEncoder.SetTombstoneHorizon(node.Database("db").Number, long.MaxValue));
        Assert.Equal((0, last), (ReadStatistics(node).Tombstones, ReadStatistics(node).TombstoneHorizon));
        Delete(node, "b");
        Assert.Equal(["b"], ReadTombstones(node));
    }

    [Fact]
    public void Raising_the_horizon_reads_no_tombstones_that_were_removed_before()
    {
        const int Count = 3000;
        var options = SteppedNode.Options("/data/node") with { MemtableBytes = 2 << 20, RunBytes = 4 << 20 };
        long removed;
        using (var node = SteppedNode.Open(_disk, options, _time))
        {
            node.CreateDatabase("db");
            using var writer = new BatchWriter(CommandKind.Batch, node.Database("db").Number);
            using var deletes = new BatchWriter(CommandKind.Batch, node.Database("db").Number);
            for (int i = 0; i < Count; i++)
            {
                byte[] id = System.Text.Encoding.UTF8.GetBytes(DamageTests.Noise(i, bytes: 100));
                writer.Put(id, default, default);
                deletes.Delete(id, default);
            }

            node.Run(writer.Complete());
            node.Flush();
            node.Run(deletes.Complete());
            node.Flush();
            removed = ReadStatistics(node).LastDocumentEtag - 100;
            Raise(node, removed);

            // Flushes without the merges that follow: the file with all tombstones stays as it is.
            node.Core.Storage.Memtables.RequestFlush();
            while (node.Core.Storage.Durable.Index < node.Core.Storage.AppliedIndex)
            {
                Assert.True(node.Core.Background.DoStep());
            }
        }

        // A restarted node has no blocks in its cache.
        var blocks = new BlockCounter();
        using var cold = SteppedNode.Open(_disk, options, _time, blocks);
        blocks.Count = 0;
        Raise(cold, removed + 1);
        Assert.Equal(99, ReadStatistics(cold).Tombstones);
        Assert.InRange(blocks.Count, 0, 3);
    }

    private SteppedNode Open()
    {
        var node = SteppedNode.Open(_disk, "/data/node", _time);
        node.CreateDatabase("db");
        return node;
    }

    /// <summary>Stores and deletes a document.</summary>
    private static void Delete(SteppedNode node, string id)
    {
        node.Put("db", id, "{}");
        node.Run(
            CommandEncoder.Delete(
                node.Database("db").Number,
                System.Text.Encoding.UTF8.GetBytes(id),
                expected: default,
                key: default
            )
        );
    }

    private static void Raise(SteppedNode node, long horizon) =>
        node.Run(CommandEncoder.SetTombstoneHorizon(node.Database("db").Number, horizon));

    private static DatabaseStatistics ReadStatistics(SteppedNode node)
    {
        using var reader = node.Database("db").OpenReader();
        return reader.ReadStatistics();
    }

    private static List<string> ReadTombstones(SteppedNode node)
    {
        var ids = new List<string>();
        using var reader = node.Database("db").OpenReader();
        using var changes = reader.SeekChanges(afterEtag: 0);
        while (changes.MoveNext())
        {
            ids.Add(changes.Tombstone.Id);
        }

        return ids;
    }

    // Tasks complete inline within Commit. The test's synchronization context would continue on another thread, so the
    // work runs without it.
    private static Task CleanAsync(SteppedNode node) =>
        Task.Run(() =>
        {
            var done = new TombstoneCleaning(node.Core, node.Consensus).RunOnceAsync(CancellationToken.None);
            node.Commit();
            Assert.True(done.IsCompletedSuccessfully);
        });

    /// <summary>Counts the blocks that are read from runs.</summary>
    private sealed class BlockCounter : IIoRecorder
    {
        public int Count { get; set; }

        public long Begin() => 0;

        public void Record(IoKind kind, long begun, long bytes) => Count += kind == IoKind.Read ? 1 : 0;
    }
}
