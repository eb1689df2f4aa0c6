using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// Damage to the file of one run is found by lookups, cursors and the scrub, and no read returns a wrong row.
/// </summary>
public sealed class RunDamageTests
{
    private static readonly SortedDictionary<byte[], ModelRow> Rows = new RandomRows(seed: 21).Rows(
        count: 30,
        valueLimitBytes: 60
    );

    [Fact]
    public void A_flipped_bit_anywhere_is_detected_and_never_returned()
    {
        using var fixture = new RunFixture();
        fixture.Write(1, Rows, RunFixture.Options(blockBytes: 512));
        byte[] bytesWritten = fixture.ReadFile(RunFixture.PathOf(1));
        for (int offset = 0; offset < bytesWritten.Length; offset++)
        {
            byte mask = (byte)(1 << (offset % 8));
            fixture.Disk.Rot(RunFixture.PathOf(1), offset, mask);
            Assert.True(ReadAll(fixture, fileId: 1) > 0, $"byte {offset} of {bytesWritten.Length} rotted unnoticed");
            fixture.Disk.Rot(RunFixture.PathOf(1), offset, mask);
        }

        Assert.Equal(0, ReadAll(fixture, fileId: 1));
    }

    [Fact]
    public void A_truncated_or_extended_file_is_damaged()
    {
        using var fixture = new RunFixture();
        fixture.Write(1, Rows, RunFixture.Options(blockBytes: 512));
        byte[] bytesWritten = fixture.ReadFile(RunFixture.PathOf(1));
        for (int length = 0; length <= bytesWritten.Length + 1; length++)
        {
            if (length != bytesWritten.Length)
            {
                fixture.WriteFile(
                    RunFixture.PathOf(1),
                    [
                        .. bytesWritten.AsSpan(0, Math.Min(length, bytesWritten.Length)),
                        .. new byte[Math.Max(0, length - bytesWritten.Length)],
                    ]
                );
                Assert.Null(
                    RunReader.Open(
                        fixture.Disk,
                        RunFixture.PathOf(1),
                        fileId: 1,
                        fixture.Cache,
                        fixture.Io,
                        out var damage
                    )
                );
                Assert.NotNull(damage);
            }
        }
    }

    [Fact]
    public void A_block_from_another_place_or_another_file_is_detected()
    {
        // Equal shapes and incompressible values, so that blocks of both files have equal lengths.
        var random = new RandomRows(seed: 4);
        var one = CreateRowsOfOneShape(random);
        var other = CreateRowsOfOneShape(random);
        using var fixture = new RunFixture();
        fixture.Write(1, one, RunFixture.Options(blockBytes: 512));
        fixture.Write(2, other, RunFixture.Options(blockBytes: 512));
        byte[] bytes = fixture.ReadFile(RunFixture.PathOf(1));
        byte[] others = fixture.ReadFile(RunFixture.PathOf(2));
        var (first, second, length) = FindBlocksOfEqualLength(fixture);

        byte[] swapped = [.. bytes];
        bytes.AsSpan(first, length).CopyTo(swapped.AsSpan(second));
        bytes.AsSpan(second, length).CopyTo(swapped.AsSpan(first));
        fixture.WriteFile(RunFixture.PathOf(1), swapped);
        Assert.True(ReadAll(fixture, fileId: 1, one) > 0);

        byte[] foreign = [.. bytes];
        others.AsSpan(first, length).CopyTo(foreign.AsSpan(first));
        fixture.WriteFile(RunFixture.PathOf(1), foreign);
        Assert.True(ReadAll(fixture, fileId: 1, one) > 0);

        fixture.WriteFile(RunFixture.PathOf(1), others);
        Assert.Null(
            RunReader.Open(fixture.Disk, RunFixture.PathOf(1), fileId: 1, fixture.Cache, fixture.Io, out var damage)
        );
        Assert.NotNull(damage);
    }

    [Fact]
    public void Damage_names_the_affected_keys()
    {
        using var fixture = new RunFixture();
        fixture.Write(1, Rows, RunFixture.Options(blockBytes: 512));
        const int damagedByte = 200;
        fixture.Disk.Rot(RunFixture.PathOf(1), damagedByte, mask: 1);
        var run = fixture.Open(1);
        int damaged = 0;
        foreach (var (key, row) in Rows)
        {
            if (run.TryGet(key, KeyHash.Of(key), mayReadDisk: true, out var found, out var damage) == RunLookup.Damaged)
            {
                damaged++;
                Assert.True(
                    KeyComparer.Instance.Compare(damage!.From.ToArray(), key) <= 0
                        && KeyComparer.Instance.Compare(key, damage.ToExclusive.ToArray()) < 0,
                    "the damaged range of keys contains the key"
                );
                Assert.True(
                    damage.Offset <= damagedByte && damage.Offset + damage.Length > damagedByte,
                    "the damaged range of the file contains the damaged byte"
                );
            }
            else
            {
                Assert.Equal(row.Sequence, found.Sequence);
                found.Dispose();
            }
        }

        Assert.InRange(damaged, 1, Rows.Count - 1);
    }

    [Fact]
    public void A_scrub_in_small_steps_reads_every_byte_and_continues_after_damage()
    {
        using var fixture = new RunFixture();
        fixture.Write(1, Rows, RunFixture.Options(blockBytes: 512));
        var run = fixture.Open(1);
        Assert.Empty(Scrub(run));
        Assert.Equal(run.Summary.FileBytes, fixture.Io.Bytes(IoKind.Scrub));
        // In the first block, in one in the middle, and in the footer.
        fixture.Disk.Rot(RunFixture.PathOf(1), offset: 100, mask: 1);
        fixture.Disk.Rot(RunFixture.PathOf(1), run.Summary.FileBytes / 2, mask: 1);
        fixture.Disk.Rot(RunFixture.PathOf(1), run.Summary.FileBytes - 1, mask: 1);
        Assert.Equal(3, Scrub(run).Count);
    }

    [Fact]
    public void Every_failing_call_of_the_writer_throws_and_leaves_no_file()
    {
        var calls = DiskCalls.Changing;
        using var counting = new RunFixture();
        counting.Write(1, Rows);
        long total = counting.Disk.CallCount(calls);
        for (long call = 1; call <= total; call++)
        {
            foreach (var error in (Errno[])[Errno.InputOutput, Errno.NoSpace, Errno.ReadOnly])
            {
                using var fixture = new RunFixture();
                fixture.Disk.Inject(new DiskFault(call, error) { Calls = calls, ShortWriteBytes = 100 });
                Assert.Throws<DiskException>(() => fixture.Write(1, Rows));
                Assert.Empty(fixture.Disk.Files);
            }
        }
    }

    [Fact]
    public void Every_failing_read_is_damage_and_the_next_try_succeeds()
    {
        int readAgain = 0;
        for (int call = 1; ; call++)
        {
            using var fixture = new RunFixture();
            fixture.Write(1, Rows, RunFixture.Options(blockBytes: 512));
            long before = fixture.Disk.CallCount(DiskCalls.Read | DiskCalls.Open);
            fixture.Disk.Inject(new DiskFault(call, Errno.InputOutput) { Calls = DiskCalls.Read | DiskCalls.Open });
            int damaged = ReadAll(fixture, fileId: 1);
            if (fixture.Disk.CallCount(DiskCalls.Read | DiskCalls.Open) - before < call)
            {
                // The run makes fewer calls than this number, so each of its calls has failed once.
                Assert.Equal(0, damaged);
                Assert.True(call > 20, $"only {call} calls fail in turn; the run has more than 20");
                Assert.Equal(1, readAgain);
                return;
            }

            // A failed read ahead is no damage: the block that is needed now is read again, alone.
            readAgain += damaged > 0 ? 0 : 1;
            Assert.Equal(0, ReadAll(fixture, fileId: 1));
        }
    }

    /// <summary>
    /// Opens a run and reads it by lookups, a cursor and a scrub. Returns the number of answers that report damage; all
    /// other answers must be right.
    /// </summary>
    private static int ReadAll(RunFixture fixture, long fileId, SortedDictionary<byte[], ModelRow>? expected = null)
    {
        var rows = expected ?? Rows;
        var run = RunReader.Open(
            fixture.Disk,
            RunFixture.PathOf(fileId),
            fileId,
            fixture.Cache,
            fixture.Io,
            out var damage
        );
        if (run is null)
        {
            Assert.NotNull(damage);
            return 1;
        }

        int damaged = 0;
        foreach (var (key, row) in rows)
        {
            var lookup = run.TryGet(key, KeyHash.Of(key), mayReadDisk: true, out var found, out _);
            Assert.NotEqual(RunLookup.Absent, lookup);
            damaged += lookup == RunLookup.Damaged ? 1 : 0;
            Assert.True(
                lookup == RunLookup.Damaged || (found.Sequence == row.Sequence && found.Value.SequenceEqual(row.Value)),
                "a lookup returns the written row or reports damage"
            );
            found.Dispose();
        }

        using (var cursor = run.OpenSequentialCursor(IoKind.Compaction))
        {
            var seen = RunModelTests.Walk(cursor, cursor.SeekForward(from: []));
            Assert.Equal(rows.Select(RunModelTests.Describe).Take(seen.Count), seen, StringComparer.Ordinal);
            damaged += cursor.Damage is null ? 0 : 1;
            Assert.True(
                cursor.Damage is not null || seen.Count == rows.Count,
                "a cursor returns all rows or reports damage"
            );
        }

        damaged += Scrub(run).Count;
        run.Release();
        return damaged;
    }

    private static List<RunDamage> Scrub(RunReader run)
    {
        var found = new List<RunDamage>();
        for (long offset = 0; offset < run.Summary.FileBytes; )
        {
            if (run.Verify(offset, budgetBytes: 700, out offset) is { } damage)
            {
                found.Add(damage);
            }
        }

        return found;
    }

    private static SortedDictionary<byte[], ModelRow> CreateRowsOfOneShape(RandomRows random)
    {
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int number = 0; number < 40; number++)
        {
            rows[[(byte)'a', (byte)number]] = new ModelRow(1000, RowKind.Put, random.Bytes(100));
        }

        return rows;
    }

    // The offsets of two blocks of equal length, and that length.
    private static (int First, int Second, int Length) FindBlocksOfEqualLength(RunFixture fixture)
    {
        var index = fixture.Open(1).Index;
        Assert.Equal(index.BytesOnDisk(1), index.BytesOnDisk(2));
        return ((int)index.Offset(1), (int)index.Offset(2), index.BytesOnDisk(1));
    }
}
