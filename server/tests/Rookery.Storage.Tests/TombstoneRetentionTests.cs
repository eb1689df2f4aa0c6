using Rookery.Storage.Engine;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Tests;

/// <summary>Which tombstones a merge may drop, by the summaries of a group's files.</summary>
public sealed class TombstoneRetentionTests
{
    private const long Least = 200;

    [Fact]
    public void All_tombstones_are_retained_up_to_the_limit() =>
        Assert.Equal(
            0,
            Droppable(dropped: 0, File("a", 1, 500, tombstones: 120), File("b", 501, 1000, tombstones: 80))
        );

    [Fact]
    public void Without_a_limit_all_tombstones_may_be_dropped() =>
        Assert.Equal(
            2000,
            TombstoneRetention.DroppableThrough(
                group: 1,
                least: 0,
                [new SortedRun([File("a", 1, 500, tombstones: 60)])],
                new ManifestPosition(1, 1, 2000),
                droppedThrough: 0
            )
        );

    [Fact]
    public void Of_a_newest_file_with_more_tombstones_than_the_limit_the_newest_are_retained()
    {
        var newest = File("b", 1001, 2000, tombstones: 1000);
        Assert.Equal(1800, Droppable(dropped: 0, newest, File("a", 1, 1000, tombstones: 10)));
    }

    [Fact]
    public void Files_with_overlapping_ranges_of_sequences_retain_the_limit_together()
    {
        var files = Enumerable.Range(0, 10).Select(file => File($"{file}", 1, 1000, tombstones: 40)).ToArray();
        Assert.Equal(500, Droppable(dropped: 0, files));
    }

    [Fact]
    public void Tombstones_of_a_file_with_old_rows_are_counted_from_the_first_one_if_it_is_known() =>
        Assert.Equal(
            950_000,
            Droppable(dropped: 0, File("a", 1, 1_000_000, tombstones: 400) with { DeletionsAfter = 900_000 })
        );

    [Fact]
    public void Tombstones_that_another_group_made_useless_are_dropped_and_no_newer_ones() =>
        Assert.Equal(900_000, Droppable(dropped: 900_000, File("a", 1, 1_000_000, tombstones: 400)));

    [Fact]
    public void An_eighth_of_the_rows_may_be_tombstones() =>
        Assert.Equal(4000, Droppable(dropped: 0, File("a", 1, 8000, tombstones: 1000, rows: 4000)));

    private static long Droppable(long dropped, params RunEntry[] files) =>
        TombstoneRetention.DroppableThrough(
            group: 1,
            Least,
            files.Select(static file => new SortedRun([file])).ToArray(),
            new ManifestPosition(1, 1, files.Max(static file => file.Summary.LargestSequence)),
            dropped
        );

    private static RunEntry File(string key, long smallest, long largest, long tombstones, long? rows = null)
    {
        byte[] bytes = System.Text.Encoding.ASCII.GetBytes(key);
        return new RunEntry
        {
            Summary = new RunSummary(
                FileId: 1,
                FileBytes: 1000,
                rows ?? tombstones,
                tombstones,
                RangeTombstones: 0,
                LogicalBytes: 1000,
                smallest,
                largest,
                bytes,
                bytes
            ),
            WrittenAs = 1,
        };
    }
}
