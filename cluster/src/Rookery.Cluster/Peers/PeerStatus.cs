using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>The state of the connections to one member.</summary>
/// <param name="Node">The member.</param>
/// <param name="HasControl">Whether the control connection is open: votes, heartbeats and replies.</param>
/// <param name="HasBulk">Whether the bulk connection is open: frames and forwarded commands.</param>
/// <param name="DroppedMessages">The number of messages dropped since the member became a peer, because the queue was
/// full or no connection was open. Consensus sends them again.</param>
/// <param name="QueuedBytes">The number of bytes queued for the member now.</param>
/// <param name="Trouble">Why a connection is not open, as a sentence; null when both are open or the cause is
/// unknown.</param>
public sealed record PeerStatus(
    NodeId Node,
    bool HasControl,
    bool HasBulk,
    long DroppedMessages,
    long QueuedBytes,
    string? Trouble
)
{
    internal static PeerStatus Of(OutgoingPeer peer)
    {
        bool hasControl = peer.Control.IsConnected;
        bool hasBulk = peer.Bulk.IsConnected;
        string? troubleOfBulk = hasBulk ? null : peer.Bulk.Trouble;
        string? trouble = hasControl ? troubleOfBulk : peer.Control.Trouble;
        return new PeerStatus(
            peer.Route.Node,
            hasControl,
            hasBulk,
            peer.Control.Dropped + peer.Bulk.Dropped,
            peer.Control.QueuedBytes + peer.Bulk.QueuedBytes,
            trouble
        );
    }
}
