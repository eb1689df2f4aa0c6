using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Decides whether the node at the other end of a connection may connect. Both ends apply the same checks.
/// </summary>
/// <param name="self">This node's hello.</param>
/// <param name="admission">Decides which nodes are members.</param>
/// <param name="nameOf">Returns a member's name; null when it is not known.</param>
/// <param name="time">The clock.</param>
internal sealed class PeerGate(
    PeerHello self,
    IPeerAdmission admission,
    Func<NodeId, string?> nameOf,
    TimeProvider time
)
{
    /// <summary>The current start of each store.</summary>
    public KnownStarts Starts { get; } = new(nameOf, time);

    /// <summary>Admits the other end of a connection, or refuses it.</summary>
    /// <param name="hello">The other end's hello.</param>
    /// <param name="proven">The id of the node that its certificate proves.</param>
    /// <returns>The refusal, with a sentence for the other end; null when it is admitted.</returns>
    public PeerRefusal? AdmitOrRefuse(PeerHello hello, string proven)
    {
        if (!string.Equals(hello.ClusterId, self.ClusterId, StringComparison.Ordinal))
        {
            return new PeerRefusal(
                $"Node {hello.NodeId} belongs to cluster {hello.ClusterId}, and node {self.NodeId} to "
                    + $"cluster {self.ClusterId}: it may join this one with an empty data directory."
            );
        }

        if (!string.Equals(hello.NodeId, proven, StringComparison.Ordinal))
        {
            return new PeerRefusal(
                $"Node {hello.NodeId} came with the certificate of node {proven}: each needs its own, so let "
                    + $"it join again."
            );
        }

        if (string.Equals(hello.NodeId, self.NodeId, StringComparison.Ordinal))
        {
            return new PeerRefusal(
                hello.StartId == self.StartId
                    ? $"This node called itself: one of the addresses of a member is its own."
                    : $"There are two copies of node {nameOf(self.Member) ?? self.NodeId}, and both run: stop "
                        + $"one of them for good. It may join again with an empty card."
            );
        }

        return admission.Refuse(hello) ?? Starts.AdmitOrRefuse(hello);
    }

    /// <summary>Returns why an open connection must be closed; null when it may stay.</summary>
    /// <param name="hello">The other end's hello.</param>
    /// <param name="answered">When the newest answered ping on the connection was sent, as a timestamp; 0 for
    /// none.</param>
    public PeerRefusal? Recheck(PeerHello hello, long answered) =>
        admission.Refuse(hello) ?? Starts.Recheck(hello, answered);
}
