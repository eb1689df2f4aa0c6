using Rookery.Documents.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

public sealed class NodeIdsTests
{
    [Fact]
    public void A_directory_keeps_its_first_ids()
    {
        var disk = new SimulatedDisk("/data");
        Assert.Null(NodeIds.TryRead(disk, "/data"));
        var ids = NodeIds.Create();
        DataDirectory.WriteFormat(disk, "/data", ids);
        Assert.Equal(ids, NodeIds.TryRead(disk, "/data"));
    }

    [Fact]
    public void The_identity_of_a_joining_node_is_no_foreign_file()
    {
        var disk = new SimulatedDisk("/data/cluster");
        Assert.Null(DataDirectory.WhyNotNew(disk, "/data", journalDirectory: null));
        disk.CreateDirectory("/data/photos");
        Assert.Contains(
            "/data/photos",
            DataDirectory.WhyNotNew(disk, "/data", journalDirectory: null),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void No_node_starts_in_an_unfinished_restore()
    {
        var disk = new SimulatedDisk("/data");
        DataDirectory.MarkUnfinished(disk, "/data");
        Assert.Contains(
            "restore that did not finish",
            DataDirectory.WhyNotNew(disk, "/data", journalDirectory: null),
            StringComparison.Ordinal
        );
    }
}
