using Rookery.Disk;
using Rookery.Documents;
using Rookery.Indexing.Indexes;

namespace Rookery.Server.Tests;

/// <summary>The indexes of a node in memory.</summary>
internal static class Indexing
{
    /// <summary>Keeps them up to date until it is disposed.</summary>
    public static IndexingThread Start(Node node, IDisk disk, out IndexHost indexes)
    {
        indexes = Of(node, disk);
        return new IndexingThread(indexes, node.Databases, TimeProvider.System);
    }

    public static IndexHost Of(Node node, IDisk disk, string directory = "/data") => IndexHost.Open(
        node.Databases,
        disk,
        new IndexHostOptions
        {
            DataDirectory = directory,
            ShareOfCore = static () => 1,
            HasRoom = () => node.HasRoom,
            TroubleFound = static trouble => throw new InvalidOperationException(trouble),
            Memory = new MemoryBudget(64 << 20),
            Io = new IoTimeline(TimeProvider.System, "memory"),
        },
        TimeProvider.System);
}
