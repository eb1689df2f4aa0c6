using Rookery.Documents.Apply;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>The rounds of housekeeping on an idle node, which flush a large memtable and scrub the runs.</summary>
public sealed class HousekeepingTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_large_memtable_of_an_idle_node_is_flushed_once()
    {
        using StorageEngine storage = Open();
        var housekeeping = new Housekeeping(storage);
        Fill(storage, index: 1, rows: 5_000);
        housekeeping.DoRound();
        Assert.False(storage.Memtables.IsFlushDue); // an entry was applied since the last round
        housekeeping.DoRound();
        Assert.True(storage.Memtables.IsFlushDue);
        DoBackgroundWork(storage);
        Assert.Equal(1, storage.Durable.Index);
        housekeeping.DoRound();
        Assert.False(storage.Memtables.IsFlushDue);
    }

    [Fact]
    public void Rounds_of_an_idle_node_write_nothing_and_scrub_everything()
    {
        using StorageEngine storage = Open();
        var housekeeping = new Housekeeping(storage);
        Fill(storage, index: 1, rows: 5_000);
        storage.Memtables.RequestFlush();
        DoBackgroundWork(storage);
        Fill(storage, index: 2, rows: 100);
        string run = _disk.Files.First(path => path.EndsWith(".run", StringComparison.Ordinal));
        _disk.Rot(run, offset: 1000, mask: 1);
        long before = _disk.OperationCount;
        for (int round = 0; round < 10; round++)
        {
            housekeeping.DoRound();
            DoBackgroundWork(storage);
        }

        Assert.Equal(before, _disk.OperationCount);
        Assert.Contains(run, storage.Problem, StringComparison.Ordinal);
    }

    [Fact]
    public void Nothing_is_scrubbed_while_background_work_is_paused()
    {
        using StorageEngine storage = Open();
        var housekeeping = new Housekeeping(storage);
        Fill(storage, index: 1, rows: 5_000);
        storage.Memtables.RequestFlush();
        DoBackgroundWork(storage);
        _disk.Rot(
            _disk.Files.First(static path => path.EndsWith(".run", StringComparison.Ordinal)),
            offset: 1000,
            mask: 1
        );
        for (int round = 0; round < 10; round++)
        {
            housekeeping.DoRound(mayScrub: false);
        }

        Assert.False(storage.HasDamage);
        housekeeping.DoRound();
        Assert.True(storage.HasDamage);
    }

    private static void DoBackgroundWork(StorageEngine storage)
    {
        while ((storage.Memtables.IsFlushDue && storage.Memtables.Flush()) || storage.MergeOnce()) { }
    }

    /// <summary>Applies an entry that writes rows of 1,000 bytes.</summary>
    private static void Fill(StorageEngine storage, long index, int rows)
    {
        WriteBatch batch = storage.Begin(index, term: 1);
        byte[] key = [0, 0, 0, 1, Table.Documents, 0, 0, 0];
        for (int row = 0; row < rows; row++)
        {
            key[^2] = (byte)(row >> 8);
            key[^1] = (byte)row;
            batch.Put(key, index, new byte[1000]);
        }

        storage.Apply(batch, index);
    }

    private StorageEngine Open() =>
        StorageEngine.Open(
            _disk,
            new StorageOptions
            {
                Directory = "/data",
                Tables = Table.Definitions,
                MemtableBytes = 16 << 20,
            },
            new MemoryBudget(96 << 20),
            new IoTimeline(TimeProvider.System, "simulated0"),
            new SimulatedTimeProvider()
        );
}
