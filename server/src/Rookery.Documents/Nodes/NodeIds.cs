using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>The ids of a data directory. Both are 22 random characters.</summary>
/// <param name="NodeId">The node's id. It is never reused for other data.</param>
/// <param name="ClusterId">The cluster's id; a single node is a cluster of its own.</param>
public sealed record NodeIds(string NodeId, string ClusterId)
{
    /// <summary>
    /// File in the data directory of a joining node, with the node's id and key until the node is a member.
    /// Rookery.Cluster writes it.
    /// </summary>
    public const string JoiningName = "joining";

    /// <summary>
    /// File in the data directory of a node that forms a cluster, with the durable state of forming, for instance which
    /// founder the node has promised to join. Rookery.Cluster writes it.
    /// </summary>
    public const string FormingName = "forming";

    /// <summary>Creates random ids.</summary>
    public static NodeIds Create() => new(HistoryId.Create(), HistoryId.Create());

    /// <summary>Reads the ids of a data directory without opening it; null if no node was started there.</summary>
    /// <exception cref="DataFormatException">The format file is damaged or of a newer version.</exception>
    public static NodeIds? TryRead(IDisk disk, string dataDirectory) =>
        DataDirectory.IsNewAt(disk, dataDirectory) ? null : DataDirectory.ReadFormat(disk, dataDirectory);
}
