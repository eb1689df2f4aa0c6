using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>Whose data a directory holds. Both are 22 random characters.</summary>
/// <param name="NodeId">The node's identity: given once, never used again for other data.</param>
/// <param name="ClusterId">The cluster's identity; a single node is a cluster of its own.</param>
public sealed record NodeIds(string NodeId, string ClusterId)
{
    /// <summary>
    /// The file of a data directory in which a node that joins a cluster keeps who it asks to become, written by the
    /// room above.
    /// </summary>
    public const string JoiningName = "joining";

    /// <summary>
    /// The file of a data directory in which a node that forms a cluster with others keeps what it has bound itself to,
    /// written by the room above.
    /// </summary>
    public const string FormingName = "forming";

    /// <summary>New ones, at random.</summary>
    public static NodeIds Create() => new(HistoryId.Create(), HistoryId.Create());

    /// <summary>Those in a data directory, without opening it; null when no node was begun there.</summary>
    /// <exception cref="DataFormatException">The format file is damaged, or of a newer version.</exception>
    public static NodeIds? At(IDisk disk, string dataDirectory) =>
        DataDirectory.IsNewAt(disk, dataDirectory) ? null : DataDirectory.ReadFormat(disk, dataDirectory);
}
