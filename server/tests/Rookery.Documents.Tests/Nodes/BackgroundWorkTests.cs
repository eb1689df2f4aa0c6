using System.Globalization;
using Rookery.Disk;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>What a node without threads does besides answering.</summary>
public sealed class BackgroundWorkTests
{
    private const string Directory = "/data/node";
    private readonly SimulatedDisk disk = new("/data");
    private readonly SimulatedTimeProvider time = new();

    [Fact]
    public void Orders_of_versions_that_were_replaced_are_dropped_by_compaction()
    {
        using var node = SteppedNode.Open(disk, Directory, time);
        node.CreateDatabase("db");
        for (int round = 0; round < 40; round++)
        {
            for (int i = 0; i < 40; i++)
            {
                node.Put("db", Id(i), Numbered(round));
            }

            node.Flush();
        }

        var orders = node.Core.Storage.Statistics().Groups.Single(static group => group.Tables.Contains("by etag", StringComparison.Ordinal));
        Assert.InRange(orders.Rows, 2 * 40, 2 * 40 * 10);       // of 40 rounds at most as many as wait for a merge
        Assert.Equal(40, node.Documents("db").Count);
    }

    [Fact]
    public void A_spare_segment_that_finds_no_room_does_not_keep_compaction_from_giving_some_back()
    {
        using var node = SteppedNode.Open(disk, Directory, time);
        disk.Inject(new DiskFault(1, Errno.NoSpace) { Calls = DiskCalls.Allocate, PathContains = "/journal/", Sticky = true });
        node.CreateDatabase("db");
        for (int round = 0; round < 10; round++)
        {
            node.Put("db", "always/the-same", Numbered(round));
            node.Core.Storage.RequestFlush();
            Assert.Throws<DiskException>(() =>
            {
                while (node.Core.WorkOnce())
                {
                }
            });
        }

        Assert.True(node.Core.Storage.Statistics().Compactions > 0);
    }

    private static string Id(int number) => string.Create(CultureInfo.InvariantCulture, $"documents/{number}");

    private static string Numbered(int number) => string.Create(CultureInfo.InvariantCulture, $$"""{"n":{{number}}}""");
}
