using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>How the connections to one member do.</summary>
/// <param name="Node">The member.</param>
/// <param name="HasControl">Whether the connection for votes, heartbeats and replies stands.</param>
/// <param name="HasBulk">Whether the connection for frames and forwarded commands stands.</param>
/// <param name="DroppedMessages">Messages that were dropped since the member was named, because too much waited or
/// nothing stood. Consensus sends again.</param>
/// <param name="QueuedBytes">Bytes that wait to be sent to it now.</param>
/// <param name="Trouble">While one of them does not stand: why, in a sentence, if that is known.</param>
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
        string? trouble =
            !hasControl ? peer.Control.Trouble
            : !hasBulk ? peer.Bulk.Trouble
            : null;
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
