namespace Rookery.Raft;

/// <summary>A leader's replication progress with one member, for operators.</summary>
/// <param name="Node">The member.</param>
/// <param name="Match">The highest index that the leader knows to be durable on the member. Null before its first
/// acknowledgement to this leader, unless it is fetching a snapshot.</param>
/// <param name="IsReachable">Whether the member answered within the last election timeout.</param>
/// <param name="LastContact">When the member last answered, in microseconds of the host's monotonic time; null before
/// its first answer.</param>
/// <param name="IsCaughtUp">Whether the member kept up with recent writes. Such a member would not delay commits as a
/// voter.</param>
/// <param name="SyncMicroseconds">The 99th percentile of the duration of the member's recent journal writes, as last
/// reported.</param>
/// <param name="SpareBytes">The member's free bytes beyond its reserve, as last reported; null before its first
/// answer.</param>
/// <param name="Clock">The member's own clock, as last reported; the default before its first report.</param>
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
