using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// The merge of several runs, newest first, into one sequence of rows: the newest row of each key.
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
        var random = new RandomRows(seed);
        using var fixture = new RunFixture();
        var everything = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        var readers = new List<RunReader>();
        for (int run = 1; run <= runs; run++)
        {
            readers.Insert(0, WriteNewerRun(random, fixture, run, everything));
        }

        using var merge = new MergingCursor([.. readers.Select(run => run.OpenCursor())]);
        for (int probe = 0; probe < 40; probe++)
        {
            byte[] bound = probe == 0 ? [] : Key(random);
            Assert.Equal(
                DescribeFrom(everything, bound),
                RunModelTests.Walk(merge, merge.SeekForward(bound)),
                StringComparer.Ordinal
            );
            Assert.Equal(
                DescribeBefore(everything, bound),
                RunModelTests.Walk(merge, merge.SeekBackward(bound)),
                StringComparer.Ordinal
            );
        }
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
        using var merge = new MergingCursor([newer.OpenCursor(), older.OpenCursor()]);
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
        using var merge = new MergingCursor([.. readers.Select(run => run.OpenCursor())]);
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
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int row = 0; row < 300; row++)
        {
            byte[] key = Key(random);
            rows[key] = everything[key] = random.Row(valueLimitBytes: 300) with { Sequence = sequence + 5000 + row };
        }

        return fixture.WriteAndOpen(number, rows, RunFixture.Options(blockBytes: 512));
    }

    /// <summary>Returns a random short key; there are few, so that runs have the same keys.</summary>
    private static byte[] Key(RandomRows random) =>
        [(byte)'k', .. Enumerable.Range(0, random.Next(3)).Select(_ => (byte)random.Next(12)), (byte)random.Next(12)];

    /// <summary>Describes the rows from a key on, in order.</summary>
    private static IEnumerable<string> DescribeFrom(IEnumerable<KeyValuePair<byte[], ModelRow>> rows, byte[] bound) =>
        rows.Where(row => KeyComparer.Instance.Compare(row.Key, bound) >= 0).Select(RunModelTests.Describe);

    /// <summary>Describes the rows before a key, all for an empty key, in reverse order.</summary>
    private static IEnumerable<string> DescribeBefore(IEnumerable<KeyValuePair<byte[], ModelRow>> rows, byte[] bound) =>
        rows.Reverse()
            .Where(row => bound.Length == 0 || KeyComparer.Instance.Compare(row.Key, bound) < 0)
            .Select(RunModelTests.Describe);
}
