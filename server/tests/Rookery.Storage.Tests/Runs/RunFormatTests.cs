using Rookery.Storage.Engine;
using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests.Runs;

/// <summary>
/// Runs of every format version that was ever written, kept as files. Golden/version-1.run was written when version 1
/// was new, from <see cref="GoldenRows"/>, and is never written again. It has a range tombstone too, which is part of
/// the format, but which no version has written outside of tests.
/// </summary>
public sealed class RunFormatTests
{
    private const long GoldenFileId = 42;

    [Fact]
    public void A_run_of_format_version_1_is_read_as_it_was_written()
    {
        using var fixture = new RunFixture();
        fixture.WriteFile(
            RunFixture.PathOf(GoldenFileId),
            File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "Runs", "Golden", "version-1.run"))
        );
        var run = fixture.Open(GoldenFileId);
        foreach (var (key, row) in GoldenRows())
        {
            RunModelTests.AssertFound(run, key, row, seed: 0);
        }

        using var cursor = run.OpenCursor();
        Assert.Equal(
            GoldenRows().Select(RunModelTests.Describe),
            RunModelTests.Walk(cursor, cursor.SeekForward(from: [])),
            StringComparer.Ordinal
        );
        Assert.Equal((1L, 5000L), (run.Summary.RangeTombstones, run.Summary.LargestSequence));
        Assert.True(run.Index.Blocks > 3);
    }

    [Fact]
    public void A_run_written_today_is_still_of_format_version_1()
    {
        using var fixture = new RunFixture();
        fixture.Write(GoldenFileId, GoldenRows(), RunFixture.Options(blockBytes: 1024));
        byte[] golden = File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "Runs", "Golden", "version-1.run"));
        byte[] written = fixture.ReadFile(RunFixture.PathOf(GoldenFileId));

        // Other bytes are not compared, because another release of LZ4 may compress the same block differently.
        Assert.Equal(golden.AsSpan(0, RunFormat.HeaderBytes), written.AsSpan(0, RunFormat.HeaderBytes));
        Assert.Equal(
            golden.AsSpan(golden.Length - RunFooter.Bytes, 8),
            written.AsSpan(written.Length - RunFooter.Bytes, 8)
        );
    }

    [Fact]
    public void A_run_with_range_tombstones_is_no_part_of_a_store()
    {
        using var fixture = new RunFixture();
        fixture.WriteFile(
            RunFixture.PathOf(GoldenFileId),
            File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "Runs", "Golden", "version-1.run"))
        );
        var file = new ManifestFile(
            fixture.Open(GoldenFileId).Summary,
            From: default,
            DeadBytes: 0,
            ClearedThrough: 0,
            WrittenAs: GoldenFileId
        );
        fixture.WriteFile(
            Path.Join(RunFixture.Directory, RunFileName.Of(GoldenFileId)),
            fixture.ReadFile(RunFixture.PathOf(GoldenFileId))
        );
        var entry = new RunSetOpening(fixture.Disk, RunFixture.Directory, fixture.Io, fixture.Cache).Open(file);
        Assert.Null(entry.Reader);
        Assert.Contains("it has range tombstones", entry.Damage!.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_of_a_newer_format_is_refused_with_its_version()
    {
        using var fixture = new RunFixture();
        fixture.Write(1, GoldenRows());
        fixture.Disk.Rot(RunFixture.PathOf(1), offset: 8, mask: 3); // the version, 1, becomes 2
        Assert.Null(
            RunReader.Open(fixture.Disk, RunFixture.PathOf(1), fileId: 1, fixture.Cache, fixture.Io, out var damage)
        );
        Assert.Contains("format version 2", damage!.Reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("", 0xa08d7068ea6582a3)]
    [InlineData("a", 0x180fe530df0976a3)]
    [InlineData("users/1", 0xfb40eda3f595eb2b)]
    [InlineData("users/000123-a", 0x735d1c1b43b59a39)]
    [InlineData("a key that is longer than sixteen bytes", 0xbe546afda0cb2025)]
    public void The_hash_of_a_key_is_stable(string key, ulong hash) =>
        Assert.Equal(hash, KeyHash.Of(System.Text.Encoding.ASCII.GetBytes(key)));

    // Changes here would no longer match the golden file: 60 rows with values of all lengths, which compress or not,
    // with tombstones and references to large values among them.
    private static SortedDictionary<byte[], ModelRow> GoldenRows()
    {
        var rows = new SortedDictionary<byte[], ModelRow>(KeyComparer.Instance);
        for (int number = 0; number < 60; number++)
        {
            byte[] value =
                number % 4 == 3
                    ? [.. Enumerable.Range(0, number * 7).Select(index => (byte)(index * index * (number + 1)))]
                    : [.. Enumerable.Repeat((byte)number, number * 3)];
            var kind =
                number % 7 == 5 ? RowKind.Tombstone
                : number % 11 == 4 ? RowKind.LargeReference
                : RowKind.Put;
            rows[System.Text.Encoding.ASCII.GetBytes($"users/{number:D4}")] = new ModelRow(
                (number * 37) + 1,
                kind,
                kind == RowKind.Tombstone ? [] : value
            );
        }

        return rows;
    }
}
