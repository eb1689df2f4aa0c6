using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>Runs with random rows, compared with the rows that were written.</summary>
public sealed class RunModelTests
{
    [Theory]
    [InlineData(1, 256, 400)]
    [InlineData(2, 1024, 2000)]
    [InlineData(3, 16 * 1024, 64 * 1024)]
    [InlineData(4, 32 * 1024, 64 * 1024)]
    public void A_run_returns_the_written_rows(int seed, int blockBytes, int valueLimitBytes)
    {
        var random = new RandomRows(seed);
        var rows = random.Rows(count: 1500, valueLimitBytes);
        using var fixture = new RunFixture();
        var run = fixture.WriteAndOpen(fileId: 7, rows, RunFixture.Options(blockBytes, filter: seed % 2 == 0));

        foreach (var (key, row) in rows)
        {
            AssertFound(run, key, row, seed);
        }

        for (int absent = 0; absent < 3000; absent++)
        {
            byte[] key = random.Key(rows);
            if (!rows.ContainsKey(key))
            {
                Assert.Equal(RunLookup.Absent, run.TryGet(key, KeyHash.Of(key), mayReadDisk: true, out _, out _));
            }
        }
    }

    [Theory]
    [InlineData(11)]
    [InlineData(12)]
    public void Cursors_iterate_in_both_directions_from_any_key(int seed)
    {
        var random = new RandomRows(seed);
        var rows = random.Rows(count: 400, valueLimitBytes: 1500);
        using var fixture = new RunFixture();
        var run = fixture.WriteAndOpen(fileId: 1, rows);
        foreach (var cursor in (RunCursor[])[run.OpenCursor(), run.OpenSequentialCursor(IoKind.Compaction)])
        {
            using (cursor)
            {
                Assert.Equal(rows.Select(Describe), Walk(cursor, cursor.SeekForward(from: [])), StringComparer.Ordinal);
                Assert.Equal(
                    rows.Reverse().Select(Describe),
                    Walk(cursor, cursor.SeekBackward(toExclusive: [])),
                    StringComparer.Ordinal
                );
                for (int probe = 0; probe < 30; probe++)
                {
                    byte[] bound =
                        random.Next(2) == 0 ? random.Key(rows) : rows.Keys.ElementAt(random.Next(rows.Count));
                    Assert.Equal(
                        rows.Where(row => KeyComparer.Instance.Compare(row.Key, bound) >= 0).Select(Describe),
                        Walk(cursor, cursor.SeekForward(bound)),
                        StringComparer.Ordinal
                    );
                    var below = rows.Reverse()
                        .Where(row => bound.Length == 0 || KeyComparer.Instance.Compare(row.Key, bound) < 0);
                    Assert.Equal(
                        below.Select(Describe),
                        Walk(cursor, cursor.SeekBackward(bound)),
                        StringComparer.Ordinal
                    );
                }
            }
        }
    }

    [Fact]
    public void The_footer_has_the_counts_of_the_run()
    {
        var rows = new RandomRows(seed: 5).Rows(count: 700, valueLimitBytes: 500);
        using var fixture = new RunFixture();
        var written = fixture.Write(3, rows);
        var read = fixture.Open(3).Summary;

        Assert.Equal(rows.Count, read.Rows);
        Assert.Equal(rows.Values.Count(row => row.Kind == RowKind.Tombstone), read.Tombstones);
        Assert.Equal(rows.Sum(row => row.Key.Length + row.Value.Value.Length), read.LogicalBytes);
        Assert.Equal(rows.Values.Min(row => row.Sequence), read.SmallestSequence);
        Assert.Equal(rows.Values.Max(row => row.Sequence), read.LargestSequence);
        Assert.Equal(rows.Keys.First(), read.SmallestKey.ToArray());
        Assert.Equal(rows.Keys.Last(), read.LargestKey.ToArray());
        Assert.Equal(fixture.ReadFile(RunFixture.PathOf(3)).Length, read.FileBytes);
        Assert.Equal(written with { SmallestKey = read.SmallestKey, LargestKey = read.LargestKey }, read);
        Assert.Equal(read.FileBytes, fixture.Io.Bytes(IoKind.RunWrite));
    }

    [Fact]
    public void An_empty_run_opens_and_has_no_rows()
    {
        using var fixture = new RunFixture();
        var run = fixture.WriteAndOpen(fileId: 1, new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance));

        Assert.Equal(RunLookup.Absent, run.TryGet("c"u8, KeyHash.Of("c"u8), mayReadDisk: true, out _, out _));
        using var cursor = run.OpenCursor();
        Assert.False(cursor.SeekForward(from: []));
        Assert.False(cursor.SeekBackward(toExclusive: []));
        Assert.Null(cursor.Damage);
        Assert.Equal((0L, 0L, 0L), (run.Summary.Rows, run.Summary.SmallestSequence, run.Summary.LargestSequence));
    }

    [Fact]
    public void The_filter_accepts_every_present_key_and_few_absent_ones()
    {
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int number = 0; number < 20_000; number++)
        {
            rows[IdOf(2 * number)] = new ModelRow(number, RowKind.Put, []);
        }

        using var fixture = new RunFixture();
        var run = fixture.WriteAndOpen(fileId: 1, rows);
        Assert.All(rows.Keys, key => Assert.True(run.MayContain(KeyHash.Of(key))));
        int passed = Enumerable.Range(0, 20_000).Count(number => run.MayContain(KeyHash.Of(IdOf((2 * number) + 1))));
        Assert.InRange(passed, 0, 20_000 * 2 / 100); // at most 2 %
    }

    [Fact]
    public void Rows_out_of_order_are_refused()
    {
        using var fixture = new RunFixture();
        using var writer = new RunWriter(
            fixture.Disk,
            RunFixture.PathOf(1),
            fileId: 1,
            RunFixture.Options(),
            fixture.Io
        );
        writer.Add("b"u8, 1, RowKind.Put, "x"u8);
        Assert.Throws<InvariantViolationException>(() => writer.Add("b"u8, 2, RowKind.Put, "x"u8));
        Assert.Throws<InvariantViolationException>(() => writer.Add("a"u8, 2, RowKind.Put, "x"u8));
    }

    [Fact]
    public void A_paced_writer_never_leaves_more_than_512_KiB_unsynced()
    {
        var random = new RandomRows(seed: 3);
        using var fixture = new RunFixture();
        var disk = new SyncWatchingDisk(fixture.Disk);
        using var writer = new RunWriter(
            disk,
            RunFixture.PathOf(1),
            fileId: 1,
            RunFixture.Options(blockBytes: 16 * 1024),
            fixture.Io
        );
        for (int number = 0; number < 100; number++)
        {
            writer.Add(IdOf(number), number, RowKind.Put, random.Bytes(60_000));
        }

        long bytes = writer.Finish().FileBytes;
        Assert.InRange(bytes, 100 * 60_000, 101 * 60_100);
        Assert.InRange(disk.MaxUnsyncedBytes, 256 * 1024, 512 * 1024);
        Assert.InRange(disk.Writes, 1, (bytes / (256 * 1024)) + 1);
        Assert.Equal(fixture.Disk.CallCount(DiskCalls.Write | DiskCalls.Sync), fixture.Io.Count(IoKind.RunWrite));
    }

    [Fact]
    public void A_retired_run_stays_readable_until_its_last_release()
    {
        var rows = new RandomRows(seed: 8).Rows(count: 200, valueLimitBytes: 500);
        using var fixture = new RunFixture();
        fixture.Write(1, rows);
        var run = RunReader.Open(fixture.Disk, RunFixture.PathOf(1), fileId: 1, fixture.Cache, fixture.Io, out _)!;
        var cursor = run.OpenCursor();
        run.Retire(fixture.Disk.Delete);
        run.Release();

        Assert.Equal(rows.Select(Describe), Walk(cursor, cursor.SeekForward(from: [])), StringComparer.Ordinal);
        Assert.True(fixture.Disk.Exists(RunFixture.PathOf(1)));
        cursor.Dispose();
        Assert.False(fixture.Disk.Exists(RunFixture.PathOf(1)));
    }

    internal static void AssertFound(RunReader run, byte[] key, ModelRow expected, int seed)
    {
        Assert.True(
            run.TryGet(key, KeyHash.Of(key), mayReadDisk: true, out var row, out _) == RunLookup.Found,
            $"seed {seed}: key {Convert.ToHexString(key)} is found"
        );
        using (row)
        {
            Assert.Equal((expected.Sequence, expected.Kind), (row.Sequence, row.Kind));
            Assert.True(
                row.Value.SequenceEqual(expected.Value),
                $"seed {seed}: key {Convert.ToHexString(key)} has the written value"
            );
        }
    }

    /// <summary>Describes the rows from the cursor's on.</summary>
    /// <param name="cursor">The cursor.</param>
    /// <param name="hasRow">Whether the cursor is at a row, as its seek returned.</param>
    internal static List<string> Walk(IRowCursor cursor, bool hasRow)
    {
        var seen = new List<string>();
        for (; hasRow; hasRow = cursor.Move())
        {
            seen.Add(
                Describe(cursor.Key.ToArray(), new ModelRow(cursor.Sequence, cursor.Kind, cursor.Value.ToArray()))
            );
        }

        return seen;
    }

    internal static string Describe(KeyValuePair<byte[], ModelRow> row) => Describe(row.Key, row.Value);

    private static string Describe(byte[] key, ModelRow row) =>
        $"{Convert.ToHexString(key)}@{row.Sequence} {row.Kind} {row.Value.Length} {Checksum.Of(row.Value)}";

    private static byte[] IdOf(int number) => System.Text.Encoding.ASCII.GetBytes($"orders/{number:D9}-B");
}
