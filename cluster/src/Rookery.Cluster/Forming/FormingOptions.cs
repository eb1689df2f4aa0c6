namespace Rookery.Cluster.Forming;

/// <summary>The options of forming a cluster with other nodes.</summary>
public sealed record FormingOptions
{
    /// <summary>The number of nodes that the cluster is to have.</summary>
    public required int Expect { get; init; }

    /// <summary>Reads the phrase. If it throws, the error is reported and the phrase is read again later.</summary>
    public required Func<string> ReadPhrase { get; init; }

    /// <summary>Announces the mark by which others find this node; null ends the announcement.</summary>
    public required Action<string?> Announce { get; init; }

    /// <summary>
    /// Invoked once when a founder has admitted the node. The host must stop the node and run <see cref="FormedJoin"/>
    /// before it serves again.
    /// </summary>
    public required Action Admitted { get; init; }
}

/// <summary>A node that announces itself in this network. Nothing about it is proved.</summary>
/// <param name="NodeId">The node's id.</param>
/// <param name="Name">The node's name.</param>
/// <param name="ClusterId">The id of its cluster.</param>
/// <param name="Address">The address at which it listens for members, <c>host:port</c>.</param>
/// <param name="FormingMark">Its <see cref="FormingPhrase.Mark"/>; null when it forms no cluster.</param>
public sealed record AnnouncedNode(string NodeId, string Name, string ClusterId, string Address, string? FormingMark);
