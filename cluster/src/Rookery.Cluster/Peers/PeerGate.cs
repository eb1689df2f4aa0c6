using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Whether the other end of a connection is a member that may have it: the same questions at both ends.
/// </summary>
/// <param name="self">How this node introduces itself.</param>
/// <param name="admission">Who is a member.</param>
/// <param name="nameOf">What a member is called; null when that is not known.</param>
/// <param name="time">The clock.</param>
internal sealed class PeerGate(
    PeerHello self,
    IPeerAdmission admission,
    Func<NodeId, string?> nameOf,
    TimeProvider time
)
{
    /// <summary>Which start of each store is the one that may have connections.</summary>
    public KnownStarts Starts { get; } = new(nameOf, time);

    /// <summary>Why not, in a sentence for the other end; null when it may.</summary>
    /// <param name="hello">What it says.</param>
    /// <param name="proven">The node that its certificate proves.</param>
    public PeerRefusal? Refuse(PeerHello hello, string proven)
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
                hello.Run == self.Run
                    ? $"This node called itself: one of the addresses of a member is its own."
                    : $"There are two copies of node {nameOf(self.Member) ?? self.NodeId}, and both run: stop "
                        + $"one of them for good. It may join again with an empty card."
            );
        }

        return admission.Refuse(hello) ?? Starts.Refuse(hello);
    }

    /// <summary>Why a member that was let in may not stay.</summary>
    /// <param name="hello">What it said.</param>
    /// <param name="answered">The newest question that it has answered on the connection: the timestamp of when it was
    /// asked, 0 for none.</param>
    public PeerRefusal? RefuseLater(PeerHello hello, long answered) =>
        admission.Refuse(hello) ?? Starts.RefuseLater(hello, answered);
}
