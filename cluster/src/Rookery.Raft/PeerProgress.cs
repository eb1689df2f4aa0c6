namespace Rookery.Raft;

/// <summary>How far a leader has come with one member, for owners to see.</summary>
/// <param name="Node">The member.</param>
/// <param name="Match">Entries through here are durable there, as far as the leader knows; null before it confirmed any
/// to this leader, unless it fetches a state.</param>
/// <param name="IsReachable">Whether it answered within the last election timeout.</param>
/// <param name="LastContact">When it last answered, by the clock that the host gives, in microseconds; null before it
/// did.</param>
/// <param name="IsCaughtUp">Whether it followed what was written without falling behind, so that as a voter it would
/// hold nothing up.</param>
/// <param name="SyncMicroseconds">The 99th percentile of its recent journal writes, as it said last.</param>
/// <param name="SpareBytes">Bytes free there beyond its reserve, as it said last; null before it did.</param>
/// <param name="Clock">Its own clock, as it said last; the default before it did.</param>
public readonly record struct PeerProgress(
    NodeId Node,
    long? Match,
    bool IsReachable,
    long? LastContact,
    bool IsCaughtUp,
    long SyncMicroseconds,
    long? SpareBytes,
    ClockReading Clock
);

/// <summary>What owners are shown of the other members.</summary>
public sealed partial class RaftCore
{
    /// <summary>The other members, as this node sees them while it leads; none while it does not.</summary>
    public IReadOnlyList<PeerProgress> ReadPeers() => Role != Role.Leader ? [] : [.. _peers.Select(Read)];

    private PeerProgress Read(Progress peer)
    {
        bool hasAnswered = peer.Incarnation > 0;
        return new PeerProgress(
            peer.Node,
            peer.Match > 0 || peer.State == ProgressState.Manifest ? peer.Match : null,
            hasAnswered && _now - peer.LastContact <= ElectionTimeoutMicroseconds,
            hasAnswered ? peer.LastContact : null,
            peer.IsCaughtUp,
            peer.Health.SyncMicroseconds,
            hasAnswered ? peer.Health.SpareBytes : null,
            ClockOf(peer)
        );
    }

    private ClockReading ClockOf(Progress peer) =>
        peer.Clock is var (difference, isSure)
            ? new ClockReading(ClusterClock.TicksAt(difference, _now), isSure)
            : default;
}
