using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>The state of consensus on a node at one moment.</summary>
/// <param name="Role">The node's role.</param>
/// <param name="Term">The current term.</param>
/// <param name="Leader">The leader of the term; none when unknown.</param>
/// <param name="Configuration">The newest configuration.</param>
/// <param name="WasRemoved">Whether the newest configuration removed this node.</param>
/// <param name="IsDamaged">Whether this node lost entries that it may have acknowledged, and has not received them
/// again.</param>
/// <param name="ConfigurationIndex">The index of the configuration's entry.</param>
/// <param name="ChangeIsPending">Whether the newest configuration is not committed yet.</param>
/// <param name="LastIndex">The index of the last entry.</param>
/// <param name="DurableIndex">The highest index that is durable on this node.</param>
/// <param name="CommitIndex">The highest index that this node knows to be committed.</param>
/// <param name="AppliedIndex">The highest index that this node's tables contain.</param>
/// <param name="ElectionTimeoutMicroseconds">The current election timeout.</param>
/// <param name="SyncMicroseconds">The 99th percentile of the duration of this node's recent journal writes; 0 when none
/// was measured.</param>
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
