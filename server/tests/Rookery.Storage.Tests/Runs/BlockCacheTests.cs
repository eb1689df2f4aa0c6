using Rookery.Platform;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// The cache of blocks that were read from runs. Values have 2000 bytes, so 3000 rows are about 6 MiB.
/// </summary>
public sealed class BlockCacheTests
{
    private const int MiB = 1024 * 1024;

    [Fact]
    public void A_block_is_read_from_the_disk_once_and_then_from_memory()
    {
        using var fixture = new RunFixture();
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 200);
        ReadAll(run, rows);
        long reads = fixture.Io.Count(IoKind.Read);
        ReadAll(run, rows);
        Assert.Equal(run.Index.Blocks, reads);
        Assert.Equal(reads, fixture.Io.Count(IoKind.Read));
    }

    /// <summary>With a capacity of 0 the memory is needed beyond the capacity.</summary>
    [Theory]
    [InlineData(8 * MiB)]
    [InlineData(0)]
    public void Memory_that_the_system_refuses_is_not_counted(long capacityBytes)
    {
        var share = new MemoryBudget(1 << 30).AddShare("blocks", 8 * MiB);
        var arena = new BlockArena(static () => throw new InvalidOperationException());
        using var memory = new BlockMemory(share, arena) { CapacityBytes = capacityBytes };
        Assert.Throws<InvalidOperationException>(() =>
            memory.Take(memoryBytes: 5000, rawLength: 4000, rows: 1, trimNumber: 0, intoMain: false)
        );
        Assert.Equal(0, share.UsedBytes);
    }

    [Fact]
    public void A_lookup_that_must_not_read_the_disk_finds_only_rows_of_cached_blocks()
    {
        using var fixture = new RunFixture();
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 200);
        byte[] first = rows.First().Key;
        Assert.Equal(RunLookup.NotInMemory, run.TryGet(first, KeyHash.Of(first), mayReadDisk: false, out _, out _));
        Assert.Equal(0, fixture.Io.Count(IoKind.Read));

        Assert.Equal(RunLookup.Found, run.TryGet(first, KeyHash.Of(first), mayReadDisk: true, out var row, out _));
        row.Dispose();
        Assert.Equal(RunLookup.Found, run.TryGet(first, KeyHash.Of(first), mayReadDisk: false, out row, out _));
        Assert.Equal(rows[first].Value, row.Value.ToArray());
        row.Dispose();
        Assert.Equal(1, fixture.Io.Count(IoKind.Read));
    }

    [Fact]
    public void Memory_stays_within_the_capacity_during_large_reads()
    {
        using var fixture = new RunFixture(cacheBytes: 2 * MiB);
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 3000);
        Assert.True(run.Summary.LogicalBytes > 5 * MiB);
        ReadAll(run, rows);
        Assert.InRange(fixture.Cache.UsedBytes, MiB, 2 * MiB);
        Assert.Equal(fixture.Cache.UsedBytes, fixture.Budget.UsedBytes);
    }

    [Fact]
    public void Blocks_of_mixed_sizes_together_stay_within_the_capacity()
    {
        const int seed = 77;
        var random = new RandomRows(seed);
        using var fixture = new RunFixture(cacheBytes: 3 * MiB);
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int number = 0; number < 400; number++)
        {
            rows[IdOf(number)] = new ModelRow(
                number,
                RowKind.Put,
                random.Bytes(random.Next(2) == 0 ? random.Next(65_536) : random.Next(2000))
            );
        }

        var run = fixture.WriteAndOpen(fileId: 1, rows, RunFixture.Options(blockBytes: 16 * 1024));
        for (int probe = 0; probe < 3000; probe++)
        {
            int number = random.Next(400);
            RunModelTests.AssertFound(run, IdOf(number), rows[IdOf(number)], seed);
            Assert.InRange(fixture.Cache.UsedBytes, 0, 3 * MiB);
        }
    }

    [Fact]
    public void A_full_scan_does_not_evict_blocks_of_point_reads()
    {
        using var fixture = new RunFixture(cacheBytes: 3 * MiB);
        var (hot, hotRows) = WriteRows(fixture, fileId: 1, rows: 600);
        var (cold, _) = WriteRows(fixture, fileId: 2, rows: 6000);
        // Read more than once, so that the cache knows that these blocks are used again.
        for (int time = 0; time < 3; time++)
        {
            ReadAll(hot, hotRows);
        }

        using (var cursor = cold.OpenCursor())
        {
            Assert.Equal(6000, RunModelTests.Walk(cursor, cursor.SeekForward(from: [])).Count);
        }

        long before = fixture.Io.Count(IoKind.Read);
        ReadAll(hot, hotRows);
        // At most one in twenty of them was evicted.
        Assert.InRange(fixture.Io.Count(IoKind.Read) - before, 0, hot.Index.Blocks / 20);
    }

    [Fact]
    public void A_sequential_cursor_does_not_use_the_cache()
    {
        using var fixture = new RunFixture();
        var (run, _) = WriteRows(fixture, fileId: 1, rows: 500);
        long usedBytes = fixture.Cache.UsedBytes;
        using (var cursor = run.OpenSequentialCursor(IoKind.Compaction))
        {
            Assert.Equal(500, RunModelTests.Walk(cursor, cursor.SeekForward(from: [])).Count);
        }

        Assert.Equal(usedBytes, fixture.Cache.UsedBytes);
        Assert.Equal(0, fixture.Io.Count(IoKind.Read));
        // The cursor reads 256 KiB at once, less the beginning of a block that does not fit.
        Assert.InRange(fixture.Io.Count(IoKind.Compaction), 1, (run.Summary.FileBytes / (200 * 1024)) + 1);
    }

    [Fact]
    public void Idle_blocks_are_evicted_and_used_ones_stay()
    {
        using var fixture = new RunFixture();
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 3000);
        ReadAll(run, rows);
        long fullBytes = fixture.Cache.UsedBytes;
        // A block is idle when it was not read between two calls.
        fixture.Cache.TrimIdle();
        Assert.Equal(fullBytes, fixture.Cache.UsedBytes);
        var busy = rows.First();
        RunModelTests.AssertFound(run, busy.Key, busy.Value, seed: 0);
        fixture.Cache.TrimIdle();
        Assert.InRange(fixture.Cache.UsedBytes, 0, run.ResidentBytes + MiB);

        long reads = fixture.Io.Count(IoKind.Read);
        RunModelTests.AssertFound(run, busy.Key, busy.Value, seed: 0);
        Assert.Equal(reads, fixture.Io.Count(IoKind.Read));
        fixture.Cache.TrimIdle();
        fixture.Cache.TrimIdle();
        Assert.Equal(run.ResidentBytes, fixture.Cache.UsedBytes);
        ReadAll(run, rows);
    }

    [Fact]
    public void A_lower_capacity_takes_effect_immediately_except_for_pinned_rows()
    {
        using var fixture = new RunFixture();
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 3000);
        ReadAll(run, rows);
        var pinned = rows.First();
        Assert.Equal(
            RunLookup.Found,
            run.TryGet(pinned.Key, KeyHash.Of(pinned.Key), mayReadDisk: true, out var row, out _)
        );
        fixture.Cache.CapacityBytes = 0;
        Assert.InRange(fixture.Cache.UsedBytes, 1, run.ResidentBytes + MiB);
        Assert.True(row.Value.SequenceEqual(pinned.Value.Value));
        row.Dispose();
        ReadAll(run, rows);
    }

    [Fact]
    public void A_quarter_of_the_cache_stays_when_other_consumers_need_memory()
    {
        using var fixture = new RunFixture(cacheBytes: 8 * MiB);
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 3000);
        ReadAll(run, rows);
        Assert.InRange(fixture.Cache.UsedBytes, (2 * MiB) + 1, 8 * MiB);
        fixture.Budget.Relieve(fixture.Budget.TotalBytes - MiB);
        Assert.InRange(fixture.Cache.UsedBytes, MiB, 2 * MiB);
        Assert.Equal(fixture.Budget.UsedBytes, fixture.Cache.UsedBytes);
        ReadAll(run, rows);
    }

    [Fact]
    public void Blocks_of_a_closed_run_are_evicted_and_other_runs_stay_readable()
    {
        using var fixture = new RunFixture();
        var (kept, keptRows) = WriteRows(fixture, fileId: 1, rows: 100);
        var rows = CreateRows(2000);
        fixture.Write(2, rows, RunFixture.Options(blockBytes: 16 * 1024));
        var run = RunReader.Open(fixture.Disk, RunFixture.PathOf(2), fileId: 2, fixture.Cache, fixture.Io, out _)!;
        ReadAll(kept, keptRows);
        ReadAll(run, rows);
        run.Release();
        fixture.Cache.TrimIdle();
        Assert.InRange(fixture.Cache.UsedBytes, 0, kept.ResidentBytes + MiB);
        ReadAll(kept, keptRows);
    }

    [Fact]
    public void Concurrent_reads_evictions_and_trims_never_return_a_wrong_row()
    {
        const int seed = 5;
        using var fixture = new RunFixture(cacheBytes: MiB);
        var rows = CreateRows(3000);
        RunReader[] runs =
        [
            .. Enumerable
                .Range(1, 3)
                .Select(id => fixture.WriteAndOpen(id, rows, RunFixture.Options(blockBytes: 4096))),
        ];
        Parallel.For(
            0,
            6,
            new ParallelOptions { MaxDegreeOfParallelism = 6 },
            thread =>
            {
                var random = new RandomRows(seed + thread);
                for (int step = 0; step < 6000; step++)
                {
                    // Nine of ten reads are of 40 rows that stay in memory; the rest evict others.
                    int number = random.Next(10) == 0 ? random.Next(3000) : random.Next(40);
                    RunModelTests.AssertFound(runs[random.Next(3)], IdOf(number), rows[IdOf(number)], seed);
                    if (thread == 0 && step % 50 == 0)
                    {
                        fixture.Cache.TrimIdle();
                        fixture.Cache.CapacityBytes = (1 + random.Next(2)) * MiB;
                    }
                    else if (thread == 1 && step % 500 == 0)
                    {
                        using var cursor = runs[0].OpenCursor();
                        Assert.Equal(3000, RunModelTests.Walk(cursor, cursor.SeekForward(from: [])).Count);
                    }
                }
            }
        );
        fixture.Cache.TrimIdle();
        fixture.Cache.TrimIdle();
        Assert.Equal(runs.Sum(run => run.ResidentBytes), fixture.Cache.UsedBytes);
    }

    [Fact]
    public void Concurrent_misses_of_one_block_read_it_once()
    {
        using var fixture = new RunFixture();
        var (run, rows) = WriteRows(fixture, fileId: 1, rows: 2000);
        var keys = rows.Keys.ToList();
        using var together = new Barrier(4);
        Thread[] threads =
        [
            .. Enumerable
                .Range(0, 4)
                .Select(_ => new Thread(() =>
                {
                    foreach (byte[] key in keys)
                    {
                        // All threads look up each key at the same time, so they miss a block at the same time.
                        together.SignalAndWait();
                        RunModelTests.AssertFound(run, key, rows[key], seed: 0);
                    }
                })),
        ];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());
        Assert.Equal(run.Index.Blocks, fixture.Io.Count(IoKind.Read));
    }

    private static void ReadAll(RunReader run, SortedDictionary<byte[], ModelRow> rows)
    {
        foreach (var (key, row) in rows)
        {
            RunModelTests.AssertFound(run, key, row, seed: 0);
        }
    }

    // Writes rows to a run and opens it.
    private static (RunReader Run, SortedDictionary<byte[], ModelRow> Rows) WriteRows(
        RunFixture fixture,
        int fileId,
        int rows
    )
    {
        var written = CreateRows(rows);
        return (fixture.WriteAndOpen(fileId, written, RunFixture.Options(blockBytes: 16 * 1024)), written);
    }

    // Numbered rows with values of 2000 bytes.
    private static SortedDictionary<byte[], ModelRow> CreateRows(int count)
    {
        var random = new RandomRows(count);
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int number = 0; number < count; number++)
        {
            rows[IdOf(number)] = new ModelRow(number, RowKind.Put, random.Bytes(2000));
        }

        return rows;
    }

    private static byte[] IdOf(int number) => System.Text.Encoding.ASCII.GetBytes($"things/{number:D7}");
}
