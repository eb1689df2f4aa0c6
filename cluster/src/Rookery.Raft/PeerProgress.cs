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
