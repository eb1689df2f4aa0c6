using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>How consensus stands on a node at one moment.</summary>
/// <param name="Role">What it is.</param>
/// <param name="Term">The current term.</param>
/// <param name="Leader">Who leads in it, if that is known.</param>
/// <param name="Configuration">Who belongs to the cluster.</param>
/// <param name="WasRemoved">Whether the newest configuration took this node out.</param>
/// <param name="IsDamaged">Whether this node lost entries that it may have acknowledged, and nobody has given them back
/// yet.</param>
/// <param name="ConfigurationIndex">The index of its entry.</param>
/// <param name="ChangeIsPending">Whether the last change of members is not committed yet.</param>
/// <param name="LastIndex">The end of the log.</param>
/// <param name="DurableIndex">Entries through here are durable here.</param>
/// <param name="CommitIndex">Entries through here are committed, as far as this node knows.</param>
/// <param name="AppliedIndex">Entries through here are in the tables here.</param>
/// <param name="ElectionTimeoutMicroseconds">The election timeout in force.</param>
/// <param name="SyncMicroseconds">The 99th percentile of this node's recent journal writes.</param>
public sealed record ConsensusState(
    Role Role,
    long Term,
    NodeId Leader,
    Configuration Configuration,
    bool WasRemoved,
    bool IsDamaged,
    long ConfigurationIndex,
    bool ChangeIsPending,
    long LastIndex,
    long DurableIndex,
    long CommitIndex,
    long AppliedIndex,
    long ElectionTimeoutMicroseconds,
    long SyncMicroseconds
);
