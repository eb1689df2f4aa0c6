using Rookery.Cluster;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>The start of a node whose data directory lost files: diagnosis mode instead of an empty node.</summary>
public sealed class NodeOpeningTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Theory]
    [InlineData("/data/storage", "/data/storage is empty")]
    [InlineData("/data/journal", "no journal in /data/journal")]
    public void Missing_files_are_not_replaced_by_new_ones(string directory, string sentence)
    {
        Open().StopCleanly();
        foreach (string name in _disk.List(directory))
        {
            _disk.Delete(Path.Join(directory, name));
        }

        using Node node = Open();
        Assert.Contains(sentence, node.Diagnosis, StringComparison.Ordinal);
        Assert.Null(node.ReadStatistics());
        Assert.Empty(_disk.List(directory));
    }

    private Node Open() =>
        Node.Open(
            new NodeOptions { DataDirectory = "/data", SegmentBytes = 1 << 20 },
            _disk,
            new MemoryBudget(96 << 20),
            new IoTimeline(TimeProvider.System, "simulated0"),
            TimeProvider.System,
            RaftConsensus.Alone
        );
}
