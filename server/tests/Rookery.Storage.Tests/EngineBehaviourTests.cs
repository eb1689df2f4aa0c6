using System.Text;
using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.State;

namespace Rookery.Storage.Tests;

/// <summary>Space, memory and files of the storage engine over several flushes and merges.</summary>
public sealed class EngineBehaviourTests
{
    [Fact]
    public void Flushes_and_merges_free_the_space_of_a_deleted_database()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk);
        long sequence = 0;
        for (int index = 1; index <= 40; index++)
        {
            WriteBatch batch = engine.Begin(index, term: 1);
            // Rows of databases 1 and 2 in turn. One value of each batch is stored in chunks.
            for (int row = 0; row < 20; row++)
            {
                byte[] value = DrawBytes(++sequence, row == 0 ? 4000 : 200);
                batch.Put(EngineWorkload.Key((uint)(row % 2) + 1, 1, $"key{sequence:D6}"), sequence, value);
            }

            engine.Apply(batch, sequence);
        }

        DoBackgroundWork(engine, flushAll: true);
        long bytesBefore = disk.UsedBytes;
        WriteBatch deletion = engine.Begin(41, term: 1);
        deletion.DeleteRange(
            EngineWorkload.Key(database: 1, table: 0, string.Empty).AsSpan(0, 4),
            EngineWorkload.Key(database: 2, table: 0, string.Empty).AsSpan(0, 4),
            ++sequence
        );
        engine.Apply(deletion, sequence);
        Assert.True(engine.Memtables.IsFlushDue);
        DoBackgroundWork(engine, flushAll: false);
        Assert.True(disk.UsedBytes < bytesBefore * 0.6, $"{bytesBefore} bytes before, {disk.UsedBytes} after");
        Assert.True(
            engine.Statistics().Groups.Sum(group => group.Rows) < 450, // of 800 in two databases
            "the rows of the deleted database are gone"
        );
    }

    /// <summary>One sector of a manifest slot is worn; everything else can be written.</summary>
    [Fact]
    public void Retries_leave_no_further_files_while_the_manifest_cannot_be_written()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk);
        for (int index = 1; index <= 4; index++)
        {
            Put(engine, index);
            engine.Memtables.RequestFlush();
            Assert.Equal(index < 4, TryFlush(failsManifest: index == 4));
        }

        int files = disk.Files.Count;
        for (int attempt = 0; attempt < 3; attempt++)
        {
            Assert.False(TryFlush(failsManifest: true));
            disk.Inject(Worn());
            Assert.False(engine.MergeOnce());
            Assert.Equal(files, disk.Files.Count);
        }

        disk.ClearFaults();
        DoBackgroundWork(engine, flushAll: true);
        Assert.Null(engine.Problem);
        Assert.Equal(4, engine.Durable.Index);
        Assert.InRange(disk.Files.Count, 1, files - 1);

        bool TryFlush(bool failsManifest)
        {
            disk.ClearFaults();
            if (failsManifest)
            {
                disk.Inject(Worn());
            }

            return engine.Memtables.Flush();
        }

        static DiskFault Worn() =>
            new(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Write,
                PathContains = "manifest-",
                Sticky = true,
            };
    }

    /// <summary>
    /// A flush of a memtable with only an abandoned batch would write position 0, as if nothing had been applied.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void An_abandoned_batch_leaves_nothing_to_flush_and_applied_rows_stay(int appliedSince)
    {
        var disk = new SimulatedDisk("/data");
        using (StorageEngine engine = EngineWorkload.Open(disk))
        {
            Put(engine, 1);
            DoBackgroundWork(engine, flushAll: true);
            for (int index = 2; index < 2 + appliedSince; index++)
            {
                Put(engine, index);
            }

            engine
                .Begin(5, term: 1)
                .Put(EngineWorkload.Key(database: 1, table: 1, "abandoned"), 5, DrawBytes(seed: 5, bytes: 9_000));
            engine.Abandon();
            DoBackgroundWork(engine, flushAll: true);
            Assert.Equal(1 + appliedSince, engine.Durable.Index);
        }

        using StorageEngine again = EngineWorkload.Open(disk);
        using Snapshot snapshot = again.OpenSnapshot();
        Assert.Equal(1 + appliedSince, again.AppliedIndex);
        Assert.True(snapshot.TryGet(EngineWorkload.Key(database: 1, table: 1, "key1"), out Row row));
        row.Dispose();
        Assert.False(snapshot.TryGet(EngineWorkload.Key(database: 1, table: 1, "abandoned"), out _));

        static void Put(StorageEngine engine, int index)
        {
            WriteBatch batch = engine.Begin(index, term: 1);
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"key{index}"), index, DrawBytes(index, bytes: 100));
            engine.Apply(batch, index);
        }
    }

    [Fact]
    public void Chunks_are_rewritten_only_when_more_than_half_of_their_file_is_dead()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(
            disk,
            EngineWorkload.Options with
            {
                MemtableBytes = 1 << 20,
                RunBytes = 1 << 20,
                FanIn = 8,
            }
        );
        WriteBatch batch = engine.Begin(1, term: 1);
        for (int i = 1; i <= 20; i++)
        {
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"key{i:D2}"), i, DrawBytes(i, bytes: 10_000));
        }

        engine.Apply(batch, 20);
        DoBackgroundWork(engine, flushAll: true);
        // 9 of the 20 values are dead, and then 12.
        Delete(engine, index: 2, first: 1, last: 9);
        Assert.False(engine.MergeOnce());
        Delete(engine, index: 3, first: 10, last: 12);
        long bytesBefore = disk.UsedBytes;
        Assert.True(engine.MergeOnce());
        Assert.False(engine.MergeOnce());
        Assert.True(disk.UsedBytes < bytesBefore * 0.6, $"{bytesBefore} bytes before, {disk.UsedBytes} after");
    }

    /// <summary>
    /// The chunks of the second value are in two files. The file with the first chunk is rewritten before the other.
    /// </summary>
    [Fact]
    public void Every_chunk_of_a_released_value_is_dropped_in_any_order_of_rewrites()
    {
        using StorageEngine engine = EngineWorkload.Open(
            new SimulatedDisk("/data"),
            EngineWorkload.Options with
            {
                MemtableBytes = 1 << 20,
            }
        );
        WriteBatch batch = engine.Begin(1, term: 1);
        for (int i = 1; i <= 3; i++)
        {
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"key{i:D2}"), i, DrawBytes(i, bytes: 16 * 1024));
        }

        engine.Apply(batch, 3);
        DoBackgroundWork(engine, flushAll: true);
        Assert.True(FilesOf(engine, TableMap.Chunks) > 1);
        Delete(engine, index: 2, first: 1, last: 2);
        DoBackgroundWork(engine, flushAll: false);
        for (int index = 3; index < 13; index++) // so that the release records are merged
        {
            batch = engine.Begin(index, term: 1);
            batch.Put(EngineWorkload.Key(database: 1, table: 1, "key04"), 20 + index, DrawBytes(index, bytes: 2000));
            engine.Apply(batch, 20 + index);
            DoBackgroundWork(engine, flushAll: true);
            Delete(engine, ++index, first: 4, last: 4);
            DoBackgroundWork(engine, flushAll: false);
        }

        Assert.True(FilesOf(engine, TableMap.Chunks) > 0);
        Delete(engine, index: 13, first: 3, last: 3);
        DoBackgroundWork(engine, flushAll: false);
        Assert.Equal(0, FilesOf(engine, TableMap.Chunks));
    }

    [Fact]
    public void Occasional_large_values_do_not_leave_one_file_per_flush()
    {
        var options = EngineWorkload.Options with { RunBytes = 1 << 20, FanIn = 4 };
        var disk = new SimulatedDisk("/data");
        var values = new Dictionary<string, byte[]>(StringComparer.Ordinal);
        using (StorageEngine engine = EngineWorkload.Open(disk, options))
        {
            for (int index = 1; index <= 60; index++)
            {
                string name = $"key{index:D2}";
                values[name] = DrawBytes(index, bytes: 3000);
                WriteBatch batch = engine.Begin(index, term: 1);
                batch.Put(EngineWorkload.Key(database: 1, table: 1, name), index, values[name]);
                engine.Apply(batch, index);
                DoBackgroundWork(engine, flushAll: true);
            }

            Assert.InRange(FilesOf(engine, TableMap.Chunks), 1, 10);
            Assert.Equal(0, engine.Statistics().PendingCompactionBytes);
        }

        using StorageEngine reopened = EngineWorkload.Open(disk, options);
        using Snapshot snapshot = reopened.OpenSnapshot();
        foreach (var (name, value) in values)
        {
            Assert.True(snapshot.TryGet(EngineWorkload.Key(database: 1, table: 1, name), out Row row));
            using (row)
            {
                var read = new System.Buffers.ArrayBufferWriter<byte>();
                row.CopyTo(read, 0, row.Length);
                Assert.Equal(value, read.WrittenSpan.ToArray());
            }
        }
    }

    /// <summary>A reader after the close must fail instead of waiting for another state.</summary>
    [Fact(Timeout = 30_000)]
    public async Task A_closed_engine_opens_no_snapshot()
    {
        StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"));
        engine.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => Task.Run(engine.OpenSnapshot));
    }

    /// <summary>The close may come between a writer's check for room and its wait.</summary>
    [Fact]
    public async Task A_writer_does_not_wait_for_a_flush_of_a_closed_engine()
    {
        using StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"));
        engine.Memtables.HasBackgroundWork = true;
        var work = new EngineWorkload(seed: 1);

        // Until two memtables are full.
        while (!engine.Memtables.IsFlushDue || engine.Memtables.ActiveBytes < EngineWorkload.Options.MemtableBytes)
        {
            work.Step(engine);
        }

        engine.Memtables.EndWaits();
        await Assert.ThrowsAsync<ObjectDisposedException>(() =>
            Task.Run(() => work.Step(engine)).WaitAsync(TimeSpan.FromSeconds(30))
        );
    }

    [Fact]
    public void A_file_pinned_by_a_reader_is_deleted_after_its_release()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk);
        Put(engine, 1);
        DoFlush(engine);
        string[] files = [.. disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal))];
        using (engine.OpenSnapshot())
        {
            WriteBatch deletion = engine.Begin(2, term: 1);
            deletion.DeleteRange(from: [0, 0, 0, 1], toExclusive: [0, 0, 0, 2], sequence: 2);
            engine.Apply(deletion, 2);
            DoBackgroundWork(engine, flushAll: true);
            Assert.All(files, path => Assert.True(disk.Exists(path)));
        }

        engine.TrimIdle();
        Assert.All(files, path => Assert.False(disk.Exists(path)));
    }

    [Fact]
    public void Merges_keep_files_unchanged_that_do_not_overlap()
    {
        using StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"));
        long sequence = 0;
        for (int index = 1; index <= 300; index++)
        {
            WriteBatch batch = engine.Begin(index, term: 1);
            batch.Put(
                EngineWorkload.Key(database: 1, table: 3, $"at{++sequence:D9}"),
                sequence,
                DrawBytes(sequence, bytes: 1000)
            );
            engine.Apply(batch, sequence);
            engine.MergeOnce();
        }

        StorageStatistics statistics = engine.Statistics();
        Assert.True(statistics.LinkedFiles > 0);
        Assert.Equal(0, statistics.CompactedBytes);
        Assert.True(statistics.Groups.Single(group => group.Group == 2).SortedRuns < 6);
    }

    [Fact]
    public void Memory_of_a_flushed_memtable_is_released_when_idle()
    {
        var budget = new MemoryBudget(64 << 20);
        var options = EngineWorkload.Options with { MemtableBytes = 4 << 20 };
        using StorageEngine engine = StorageEngine.Open(
            new SimulatedDisk("/data"),
            options,
            budget,
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );
        WriteBatch batch = engine.Begin(1, term: 1);
        for (int i = 0; i < 3000; i++)
        {
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"key{i:D5}"), 1, new byte[1000]);
        }

        engine.Apply(batch, 1);
        MemoryShare share = budget.Shares.Single(share =>
            string.Equals(share.Name, "memtable", StringComparison.Ordinal)
        );
        Assert.True(share.UsedBytes > 3_000_000);
        DoBackgroundWork(engine, flushAll: true);
        engine.TrimIdle();
        Assert.Equal(0, share.UsedBytes);
    }

    [Fact]
    public void A_snapshot_is_read_without_allocating()
    {
        using StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"));
        byte[] key = EngineWorkload.Key(database: 1, table: 1, "one");
        WriteBatch batch = engine.Begin(1, term: 1);
        batch.Put(key, 1, Encoding.UTF8.GetBytes("value"));
        engine.Apply(batch, 1);
        Assert.Equal(1000, Read(engine, key));
        DoBackgroundWork(engine, flushAll: true);
        Assert.Equal(1000, Read(engine, key));
        long bytesBefore = GC.GetAllocatedBytesForCurrentThread();
        Read(engine, key);
        Assert.Equal(bytesBefore, GC.GetAllocatedBytesForCurrentThread());
    }

    /// <summary>Returns the number of files of a group of runs.</summary>
    private static int FilesOf(StorageEngine engine, byte group) =>
        engine.Statistics().Groups.Where(each => each.Group == group).Sum(each => each.Files);

    /// <summary>Looks a key up a thousand times. Returns how often it was found.</summary>
    private static int Read(StorageEngine engine, byte[] key)
    {
        int count = 0;
        for (int i = 0; i < 1000; i++)
        {
            using Snapshot snapshot = engine.OpenSnapshot();
            if (snapshot.TryGet(key, out Row row))
            {
                count++;
                row.Dispose();
            }
        }

        return count;
    }

    private static void Put(StorageEngine engine, long index)
    {
        WriteBatch batch = engine.Begin(index, term: 1);
        batch.Put(EngineWorkload.Key(database: 1, table: 1, "key"), index, [1, 2, 3]);
        engine.Apply(batch, index);
    }

    /// <summary>Deletes the keys of some numbers, and flushes.</summary>
    // The sequence numbers up to 20 belong to the writes of these keys.
    private static void Delete(StorageEngine engine, long index, int first, int last)
    {
        WriteBatch batch = engine.Begin(index, term: 1);
        for (int i = first; i <= last; i++)
        {
            byte[] key = EngineWorkload.Key(database: 1, table: 1, $"key{i:D2}");
            Assert.True(batch.TryGet(key, out Row row));
            batch.ReleaseLarge(row, 20 + index);
            row.Dispose();
            batch.Delete(key, 20 + index);
        }

        engine.Apply(batch, 20 + index);
        DoFlush(engine);
    }

    private static void DoFlush(StorageEngine engine)
    {
        engine.Memtables.RequestFlush();
        while (engine.Memtables.IsFlushDue)
        {
            Assert.True(engine.Memtables.Flush());
        }
    }

    /// <summary>Flushes, everything or only what is due, and merges until nothing is left to merge.</summary>
    private static void DoBackgroundWork(StorageEngine engine, bool flushAll)
    {
        if (flushAll)
        {
            DoFlush(engine);
        }

        while (engine.Memtables.IsFlushDue)
        {
            Assert.True(engine.Memtables.Flush());
        }

        while (engine.MergeOnce()) { }
    }

    private static byte[] DrawBytes(long seed, int bytes)
    {
        byte[] value = new byte[bytes];
        new Random((int)seed).NextBytes(value);
        return value;
    }
}
