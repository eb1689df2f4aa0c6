using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// The merge of several runs, newest first, into one sequence of rows: the newest row of each key, unless a range
/// tombstone hides it.
/// </summary>
public sealed class MergingCursorTests
{
    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 2)]
    [InlineData(3, 5)]
    [InlineData(4, 9)]
    public void A_merge_returns_the_result_of_replaying_all_writes(int seed, int runs)
    {
        // A reader merges live rows only. A compaction also merges tombstones, because these hide rows of older runs.
        var random = new RandomRows(seed);
        using var fixture = new RunFixture();
        var everything = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        var readers = new List<RunReader>();
        for (int run = 1; run <= runs; run++)
        {
            readers.Insert(0, WriteNewerRun(random, fixture, run, everything));
        }

        var live = everything.Where(row => row.Value.Kind != RowKind.Tombstone).ToList();
        using var merge = new MergingCursor(
            [.. readers.Select(run => new MergeSource(run.OpenCursor(), run.RangeTombstones))],
            MergedRows.Live
        );
        using var compaction = new MergingCursor(
            [.. readers.Select(run => new MergeSource(run.OpenCursor(), run.RangeTombstones))],
            MergedRows.LiveAndTombstones
        );
        for (int probe = 0; probe < 40; probe++)
        {
            byte[] bound = probe == 0 ? [] : Key(random);
            Assert.Equal(
                DescribeFrom(live, bound),
                RunModelTests.Walk(merge, merge.SeekForward(bound)),
                StringComparer.Ordinal
            );
            Assert.Equal(
                DescribeBefore(live, bound),
                RunModelTests.Walk(merge, merge.SeekBackward(bound)),
                StringComparer.Ordinal
            );
            Assert.Equal(
                DescribeFrom(everything, bound),
                RunModelTests.Walk(compaction, compaction.SeekForward(bound)),
                StringComparer.Ordinal
            );
            Assert.Equal(
                DescribeBefore(everything, bound),
                RunModelTests.Walk(compaction, compaction.SeekBackward(bound)),
                StringComparer.Ordinal
            );
        }
    }

    [Fact]
    public void The_range_tombstone_of_a_repair_hides_older_rows_but_not_the_repairs_own_rows()
    {
        using var fixture = new RunFixture();
        var old = fixture.WriteAndOpen(fileId: 1, RowsOf(("a", 10), ("b", 20), ("c", 30)));
        var repair = fixture.WriteAndOpen(
            2,
            RowsOf(("b", 21)),
            rangeTombstones: new RangeTombstoneSet([new RangeTombstone("a"u8.ToArray(), "c"u8.ToArray(), Sequence: 25)])
        );
        using var merge = new MergingCursor(
            [
                new MergeSource(repair.OpenCursor(), repair.RangeTombstones),
                new MergeSource(old.OpenCursor(), old.RangeTombstones),
            ],
            MergedRows.Live
        );
        // Key in hexadecimal and sequence: the tombstone of 25 hides "a" and "b" of the old run, but not the repair's
        // "b".
        Assert.Equal(
            ["62@21", "63@30"],
            RunModelTests.Walk(merge, merge.SeekForward(from: [])).Select(row => row.Split(' ')[0]),
            StringComparer.Ordinal
        );
    }

    [Fact]
    public void Damage_in_one_run_ends_the_cursor_before_the_first_row_that_may_be_wrong()
    {
        var random = new RandomRows(seed: 6);
        using var fixture = new RunFixture();
        var everything = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        var older = WriteNewerRun(random, fixture, 1, everything);
        var newer = WriteNewerRun(random, fixture, 2, everything);
        fixture.Disk.Rot(newer.Path, newer.Summary.FileBytes / 3, mask: 4);
        using var merge = new MergingCursor(
            [
                new MergeSource(newer.OpenCursor(), newer.RangeTombstones),
                new MergeSource(older.OpenCursor(), older.RangeTombstones),
            ],
            MergedRows.LiveAndTombstones
        );
        foreach (bool backward in (bool[])[false, true])
        {
            var seen = RunModelTests.Walk(
                merge,
                backward ? merge.SeekBackward(toExclusive: []) : merge.SeekForward(from: [])
            );
            Assert.NotNull(merge.Damage);
            Assert.InRange(seen.Count, 1, everything.Count - 1);
            Assert.Equal(
                (backward ? DescribeBefore(everything, bound: []) : DescribeFrom(everything, bound: [])).Take(
                    seen.Count
                ),
                seen,
                StringComparer.Ordinal
            );
        }
    }

    [Fact]
    public void Iteration_allocates_nothing_per_row()
    {
        var random = new RandomRows(seed: 9);
        using var fixture = new RunFixture();
        var everything = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        RunReader[] readers =
        [
            WriteNewerRun(random, fixture, 2, everything),
            WriteNewerRun(random, fixture, 1, everything),
        ];
        using var merge = new MergingCursor(
            [.. readers.Select(run => new MergeSource(run.OpenCursor(), run.RangeTombstones))],
            MergedRows.Live
        );
        // The first walk fills the cache of blocks.
        Count(merge);
        long before = GC.GetAllocatedBytesForCurrentThread();
        int rows = Count(merge);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, rows / 4);
    }

    private static int Count(MergingCursor merge)
    {
        int rows = 0;
        for (bool hasRow = merge.SeekForward(from: []); hasRow; hasRow = merge.Move())
        {
            rows++;
        }

        return rows;
    }

    /// <summary>
    /// Writes a run of random changes, all newer than what is in <paramref name="everything"/>, and replays them there.
    /// </summary>
    private static RunReader WriteNewerRun(
        RandomRows random,
        RunFixture fixture,
        int number,
        SortedDictionary<byte[], ModelRow> everything
    )
    {
        long sequence = number * 1_000_000L;
        var tombstones = new RangeTombstoneSet(
            Enumerable
                .Range(0, random.Next(4))
                .Select(index => new RangeTombstone(Key(random), Key(random), sequence + (1000 * index)))
        );
        foreach (byte[] key in everything.Keys.Where(key => tombstones.CoveringSequence(key) >= 0).ToList())
        {
            everything.Remove(key);
        }

        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int row = 0; row < 300; row++)
        {
            byte[] key = Key(random);
            rows[key] = everything[key] = random.Row(valueLimitBytes: 300) with { Sequence = sequence + 5000 + row };
        }

        return fixture.WriteAndOpen(number, rows, RunFixture.Options(blockBytes: 512), tombstones);
    }

    /// <summary>Returns a random short key; there are few, so that runs have the same keys.</summary>
    private static byte[] Key(RandomRows random) =>
        [(byte)'k', .. Enumerable.Range(0, random.Next(3)).Select(_ => (byte)random.Next(12)), (byte)random.Next(12)];

    private static SortedDictionary<byte[], ModelRow> RowsOf(params (string Key, long Sequence)[] rows)
    {
        var sorted = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        foreach (var (key, sequence) in rows)
        {
            sorted[System.Text.Encoding.ASCII.GetBytes(key)] = new ModelRow(sequence, RowKind.Put, [1]);
        }

        return sorted;
    }

    /// <summary>Describes the rows from a key on, in order.</summary>
    private static IEnumerable<string> DescribeFrom(IEnumerable<KeyValuePair<byte[], ModelRow>> rows, byte[] bound) =>
        rows.Where(row => KeyComparer.Instance.Compare(row.Key, bound) >= 0).Select(RunModelTests.Describe);

    /// <summary>Describes the rows before a key, all for an empty key, in reverse order.</summary>
    private static IEnumerable<string> DescribeBefore(IEnumerable<KeyValuePair<byte[], ModelRow>> rows, byte[] bound) =>
        rows.Reverse()
            .Where(row => bound.Length == 0 || KeyComparer.Instance.Compare(row.Key, bound) < 0)
            .Select(RunModelTests.Describe);
}
