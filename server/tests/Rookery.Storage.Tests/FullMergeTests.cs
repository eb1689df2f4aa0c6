using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>Merges of all files of an engine on request.</summary>
public sealed class FullMergeTests
{
    private const int RowsOfRun = 90;

    private static readonly StorageOptions WithoutDueMerges = EngineWorkload.Options with { FanIn = 8 };

    [Fact]
    public void A_full_merge_takes_runs_for_which_no_merge_is_due_and_keeps_the_newest_rows()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, WithoutDueMerges);
        for (int index = 1; index <= 3; index++)
        {
            WriteBatch batch = engine.Begin(index, term: 1);
            batch.Put(EngineWorkload.Key(database: 1, table: 1, "same"), index, DrawBytes(index, bytes: 100));
            batch.Put(EngineWorkload.Key(database: 1, table: 3, "same"), index, DrawBytes(index, bytes: 100));
            engine.Apply(batch, index);
            DoBackgroundWork(engine, flushAll: index < 3);
        }

        Assert.False(engine.MergeOnce());
        Assert.False(engine.IsFullMergePending);
        engine.BeginFullMerge();
        Assert.True(engine.IsFullMergePending);
        DoBackgroundWork(engine, flushAll: false);
        Assert.False(engine.IsFullMergePending);
        Assert.All(engine.Statistics().Groups, static group => Assert.InRange(group.SortedRuns, 0, 1));
        Assert.Equal(2, engine.Statistics().Groups.Sum(static group => group.Rows));
        using Snapshot snapshot = engine.OpenSnapshot();
        Assert.True(snapshot.TryGet(EngineWorkload.Key(database: 1, table: 1, "same"), out Row row));
        Assert.Equal(DrawBytes(3, bytes: 100), row.Value.ToArray());
        row.Dispose();
    }

    [Fact]
    public void A_full_merge_is_not_pending_because_another_merge_runs()
    {
        using StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"));
        int runs = 0;
        do
        {
            AddInterleavedRun(engine, runs++);
        } while (!engine.MergeOnce());

        Assert.False(engine.IsFullMergePending);
        Assert.True(engine.MergeOnce(), "the merge that is due has only one part");
    }

    [Fact]
    public void A_cancelled_full_merge_ends_after_the_part_that_runs()
    {
        const int Runs = 3;
        using StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"), WithoutDueMerges);
        for (int run = 0; run < Runs; run++)
        {
            AddInterleavedRun(engine, run);
        }

        Assert.False(engine.MergeOnce());
        engine.BeginFullMerge();
        Assert.True(engine.MergeOnce());
        Assert.True(engine.IsFullMergePending);
        engine.CancelFullMerge();
        Assert.False(engine.IsFullMergePending);
        Assert.False(engine.MergeOnce());
        for (int run = 0; run < Runs; run++)
        {
            Assert.True(Holds(engine, InterleavedKey(run, 0)));
            Assert.True(Holds(engine, InterleavedKey(run, RowsOfRun - 1)));
        }

        engine.BeginFullMerge();
        DoBackgroundWork(engine, flushAll: false);
        Assert.False(engine.IsFullMergePending);
        Assert.All(engine.Statistics().Groups, static group => Assert.InRange(group.SortedRuns, 0, 1));
    }

    [Fact]
    public void A_full_merge_begins_again_when_a_deleted_range_removes_an_input_between_two_parts()
    {
        using StorageEngine engine = EngineWorkload.Open(new SimulatedDisk("/data"), WithoutDueMerges);
        AddRunsOfTwoDatabases(engine, rows: 180);
        engine.BeginFullMerge();
        Assert.True(engine.MergeOnce());
        Assert.True(engine.IsFullMergePending);
        DeleteFirstDatabase(engine);
        AssertMergedToOneRun(engine);
    }

    [Fact]
    public void A_full_merge_begins_again_when_a_deleted_range_removes_an_input_of_the_running_part()
    {
        var pacer = new HookedPacer();
        using StorageEngine engine = EngineWorkload.Open(
            new SimulatedDisk("/data"),
            WithoutDueMerges with
            {
                MemtableBytes = 1 << 20,
                RunBytes = 512 << 10,
                Pacer = pacer,
            }
        );
        AddRunsOfTwoDatabases(engine, rows: 3_000);
        engine.BeginFullMerge();
        bool isDeleted = false;
        pacer.Yielding = () =>
        {
            pacer.Yielding = null;
            DeleteFirstDatabase(engine);
            isDeleted = true;
        };
        Assert.True(engine.MergeOnce());
        Assert.True(isDeleted, "the part reads too few bytes for a pause");
        Assert.True(engine.IsFullMergePending);
        AssertMergedToOneRun(engine);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_full_merge_names_the_damaged_file_that_it_leaves_out(bool isDamagedDuringTheMerge)
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, WithoutDueMerges);
        for (int run = 0; run < 3; run++)
        {
            AddInterleavedRun(engine, run);
        }

        if (isDamagedDuringTheMerge)
        {
            engine.BeginFullMerge();
            Assert.True(engine.MergeOnce());
        }

        string path = disk.Files.First(static name => name.EndsWith(".run", StringComparison.Ordinal));
        using (var file = disk.Open(path, DiskOpen.Read))
        {
            for (long offset = 0; offset < file.Length; offset += 512)
            {
                disk.Rot(path, offset, mask: 1);
            }
        }

        while (!engine.ScrubOnce(budgetBytes: 1 << 20)) { }

        Assert.Null(engine.FullMergeGap);
        if (!isDamagedDuringTheMerge)
        {
            engine.BeginFullMerge();
        }

        while (engine.MergeOnce()) { }

        Assert.False(engine.IsFullMergePending);
        Assert.Contains(path, engine.FullMergeGap, StringComparison.Ordinal);
        engine.BeginFullMerge();
        Assert.Null(engine.FullMergeGap);
    }

    // Merges until nothing is left to merge. The rows of the second database remain.
    private static void AssertMergedToOneRun(StorageEngine engine)
    {
        DoBackgroundWork(engine, flushAll: false);
        Assert.False(engine.IsFullMergePending);
        Assert.Null(engine.FullMergeGap);
        Assert.All(engine.Statistics().Groups, static group => Assert.InRange(group.SortedRuns, 0, 1));
        for (int run = 0; run < 3; run++)
        {
            Assert.True(Holds(engine, InterleavedKey(run, RowsOfRun - 1, database: 2)));
            Assert.False(Holds(engine, InterleavedKey(run, 0)));
        }
    }

    private static void DeleteFirstDatabase(StorageEngine engine)
    {
        long sequence = engine.Sequence + 1;
        WriteBatch batch = engine.Begin(engine.AppliedIndex + 1, term: 1);
        batch.DeleteRange(from: [0, 0, 0, 1], toExclusive: [0, 0, 0, 2], sequence);
        engine.Apply(batch, sequence);
        DoFlush(engine);
    }

    // Adds three runs with rows of both databases; those of the first fill at least one file of each run.
    private static void AddRunsOfTwoDatabases(StorageEngine engine, int rows)
    {
        for (int run = 0; run < 3; run++)
        {
            WriteBatch batch = engine.Begin(run + 1, term: 1);
            long sequence = engine.Sequence;
            for (int row = 0; row < rows; row++)
            {
                sequence++;
                batch.Put(InterleavedKey(run, row), sequence, DrawBytes(sequence, bytes: 200));
            }

            for (int row = 0; row < RowsOfRun; row++)
            {
                sequence++;
                batch.Put(InterleavedKey(run, row, database: 2), sequence, DrawBytes(sequence, bytes: 200));
            }

            engine.Apply(batch, sequence);
            DoFlush(engine);
        }
    }

    private static bool Holds(StorageEngine engine, byte[] key)
    {
        using Snapshot snapshot = engine.OpenSnapshot();
        bool isThere = snapshot.TryGet(key, out Row row);
        if (isThere)
        {
            row.Dispose();
        }

        return isThere;
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

    // Adds a run of about one file, whose keys are between those of the other runs.
    private static void AddInterleavedRun(StorageEngine engine, int run)
    {
        WriteBatch batch = engine.Begin(run + 1, term: 1);
        for (int row = 0; row < RowsOfRun; row++)
        {
            int sequence = (run * RowsOfRun) + row + 1;
            batch.Put(InterleavedKey(run, row), sequence, DrawBytes(sequence, bytes: 200));
        }

        engine.Apply(batch, (run + 1) * RowsOfRun);
        DoFlush(engine);
    }

    private static byte[] InterleavedKey(int run, int row, uint database = 1) =>
        EngineWorkload.Key(database, table: 1, $"at{row:D4}-{run}");

    private static byte[] DrawBytes(long seed, int bytes)
    {
        byte[] value = new byte[bytes];
        new Random((int)seed).NextBytes(value);
        return value;
    }

    /// <summary>Calls a function in a pause of the background work.</summary>
    private sealed class HookedPacer : IBackgroundPacer
    {
        public Action? Yielding { get; set; }

        public void Yield(long bytes, bool urgent) => Yielding?.Invoke();
    }
}
