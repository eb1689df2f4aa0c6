namespace Rookery.Raft;

/// <summary>A leader's replication progress with one member, for operators.</summary>
/// <param name="Node">The member.</param>
/// <param name="Match">The highest index that is durable there, as far as the leader knows; null before the member's
/// first confirmation to this leader, unless it is fetching a state.</param>
/// <param name="IsReachable">Whether it answered within the last election timeout.</param>
/// <param name="LastContact">When it last answered, in microseconds of the host's time; null before its first
/// answer.</param>
/// <param name="IsCaughtUp">Whether it kept up with recent writes, so that as a voter it would not delay
/// commits.</param>
/// <param name="SyncMicroseconds">The 99th percentile of its recent journal writes, as it last reported.</param>
/// <param name="SpareBytes">Its free bytes beyond the reserve, as it last reported; null before its first
/// answer.</param>
/// <param name="Clock">Its own clock, as it last reported; the default before its first report.</param>
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
