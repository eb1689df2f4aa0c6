using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;
using Rookery.Platform;

namespace Rookery.Server.Tests;

/// <summary>The indexes of a node in memory.</summary>
internal static class Indexing
{
    /// <summary>Starts indexing, until the result is disposed.</summary>
    public static IndexingThread Start(Node node, IDisk disk, out IndexHost indexes) =>
        Start(node, disk, static () => true, TimeProvider.System, null, out indexes);

    /// <summary>Starts indexing while <paramref name="mayWork"/> allows it, with a separate clock for waits.</summary>
    public static IndexingThread Start(
        Node node,
        IDisk disk,
        Func<bool> mayWork,
        TimeProvider time,
        Action<string>? troubleFound,
        out IndexHost indexes
    )
    {
        indexes = Of(node, disk, mayWork: mayWork, time: time, troubleFound: troubleFound);
        return new IndexingThread(indexes, node.Databases, TimeProvider.System);
    }

    /// <summary>Opens the indexes without a thread that works on them.</summary>
    /// <param name="node">The node whose databases are indexed.</param>
    /// <param name="disk">The disk of the indexes.</param>
    /// <param name="directory">The data directory.</param>
    /// <param name="mayWork">Returns whether indexing may work now; null for always.</param>
    /// <param name="time">The clock of waits for an index; null for the machine's.</param>
    /// <param name="troubleFound">Called for trouble of an index; null to throw instead.</param>
    public static IndexHost Of(
        Node node,
        IDisk disk,
        string directory = "/data",
        Func<bool>? mayWork = null,
        TimeProvider? time = null,
        Action<string>? troubleFound = null
    ) =>
        IndexHost.Open(
            node.Databases,
            disk,
            new IndexHostOptions
            {
                DataDirectory = directory,
                ShareOfCore = static () => 1,
                HasRoom = () => node.HasRoom && mayWork?.Invoke() is not false,
                HasReapplied = node.HasReapplied,
                TroubleFound = troubleFound ?? (static trouble => throw new InvalidOperationException(trouble)),
                Memory = new MemoryBudget(64 << 20),
                Io = new IoTimeline(TimeProvider.System, "memory"),
            },
            time ?? TimeProvider.System
        );
}
