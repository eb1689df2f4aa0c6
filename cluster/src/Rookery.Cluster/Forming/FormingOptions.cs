namespace Rookery.Cluster.Forming;

/// <summary>The options for forming a cluster with other nodes.</summary>
public sealed record FormingOptions
{
    /// <summary>The number of nodes that the cluster is to have.</summary>
    public required int Expect { get; init; }

    /// <summary>Reads the phrase. If this throws, the error is reported, and the phrase is read again later.</summary>
    public required Func<string> ReadPhrase { get; init; }

    /// <summary>Announces the mark by which other nodes find this node. Null ends the announcement.</summary>
    public required Action<string?> Announce { get; init; }

    /// <summary>
    /// Invoked once, when a founder has admitted the node. The host must stop the node and run <see cref="FormedJoin"/>
    /// before it serves again.
    /// </summary>
    public required Action Admitted { get; init; }
}

/// <summary>A node that announces itself in the local network. The values are unauthenticated.</summary>
/// <param name="NodeId">The node's id.</param>
/// <param name="Name">The node's name.</param>
/// <param name="ClusterId">The id of the node's cluster.</param>
/// <param name="Address">The address at which the node listens for members, <c>host:port</c>.</param>
/// <param name="FormingMark">The node's <see cref="FormingPhrase.Mark"/>; null when it forms no cluster.</param>
public sealed record AnnouncedNode(string NodeId, string Name, string ClusterId, string Address, string? FormingMark);
