namespace Rookery.Cluster.Forming;

/// <summary>How a node forms a cluster with others, if its owner wants that.</summary>
public sealed record FormingOptions
{
    /// <summary>How many nodes the cluster is to have.</summary>
    public required int Expect { get; init; }

    /// <summary>Reads the phrase. What it throws is told, and it is read again a while later.</summary>
    public required Func<string> ReadPhrase { get; init; }

    /// <summary>Announces the mark by which others find this node; null for no more.</summary>
    public required Action<string?> Announce { get; init; }

    /// <summary>
    /// Told once that the node was let in: it is to be stopped, and joins (<see cref="FormedJoin"/>) before it serves
    /// again.
    /// </summary>
    public required Action Admitted { get; init; }
}

/// <summary>A node that is announced in this network. Nobody has proven anything of it.</summary>
/// <param name="NodeId">Its id.</param>
/// <param name="Name">Its name.</param>
/// <param name="ClusterId">Its cluster's id.</param>
/// <param name="Address">Where it listens for members, <c>host:port</c>.</param>
/// <param name="FormingMark">Its <see cref="FormingPhrase.Mark"/>, when it forms a cluster.</param>
public sealed record AnnouncedNode(string NodeId, string Name, string ClusterId, string Address, string? FormingMark);
