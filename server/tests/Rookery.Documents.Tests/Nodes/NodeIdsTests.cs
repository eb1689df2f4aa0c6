using Rookery.Documents.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>The ids of node and cluster in a data directory, and which directory is new.</summary>
public sealed class NodeIdsTests
{
    [Fact]
    public void The_ids_written_to_a_data_directory_are_read_back()
    {
        var disk = new SimulatedDisk("/data");
        Assert.Null(NodeIds.TryRead(disk, "/data"));
        var ids = NodeIds.Create();
        DataDirectory.WriteFormat(disk, "/data", ids);
        Assert.Equal(ids, NodeIds.TryRead(disk, "/data"));
    }

    [Fact]
    public void A_directory_with_only_an_identity_is_new_and_one_with_other_files_is_not()
    {
        // A join writes the identity, in the folder cluster, before the node first starts.
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
    public void A_directory_with_an_unfinished_restore_is_not_new()
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
