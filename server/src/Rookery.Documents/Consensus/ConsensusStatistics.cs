namespace Rookery.Documents.Consensus;

/// <summary>State of a node in its cluster, for administrators.</summary>
/// <param name="Role">The node's Raft role, for instance "Leader", "Candidate" or "Follower"; "Learner" for a member
/// that does not vote; <see cref="NoRole"/> for a node that no longer takes part.</param>
/// <param name="Term">The current term.</param>
/// <param name="LeaderTag">The leader's tag, a letter; null if no leader is known.</param>
/// <param name="LastIndex">Index of this node's last log entry.</param>
/// <param name="LastTerm">Term of that entry.</param>
/// <param name="CommitIndex">Index through which entries are committed, as far as this node knows.</param>
/// <param name="AppliedIndex">Index through which this node applied entries.</param>
/// <param name="SyncMicroseconds">99th percentile of this node's recent journal writes; null before the first.</param>
/// <param name="ElectionTimeoutMicroseconds">The current election timeout: a follower that hears no leader for this
/// long starts an election.</param>
/// <param name="Trouble">Why writes and linearizable reads fail on this node, in one sentence; null if they
/// work.</param>
/// <param name="Members">The members, the leader first.</param>
public sealed record ConsensusStatistics(
    string Role,
    long Term,
    string? LeaderTag,
    long LastIndex,
    long LastTerm,
    long CommitIndex,
    long AppliedIndex,
    long? SyncMicroseconds,
    long ElectionTimeoutMicroseconds,
    string? Trouble,
    IReadOnlyList<MemberStatistics> Members
)
{
    /// <summary>Role of a node that was removed, that the cluster refused, or that was halted.</summary>
    public const string NoRole = "None";

    /// <summary>
    /// Why a new member is not ready to serve documents, in one sentence: it does not have them yet. Null if it is
    /// ready.
    /// </summary>
    public string? Unready { get; init; }

    /// <summary>
    /// While there is no leader: one sentence per voter that this node cannot reach, with the addresses it tries and
    /// their errors. For administrators who know the right addresses.
    /// </summary>
    public IReadOnlyList<string> Unreached { get; init; } = [];

    /// <summary>The cluster's time and this node's clock.</summary>
    public ClockStatistics Clock { get; init; }

    /// <summary>
    /// Letter of the member that would become leader if this leader stopped now; null on other nodes, or if no member
    /// could.
    /// </summary>
    public string? SuccessorTag { get; init; }

    /// <summary>
    /// The voter that limits the cluster's free space; null unless this node leads several voters, a majority of which
    /// answers.
    /// </summary>
    public ClusterCapacity? Capacity { get; init; }
}

/// <summary>The cluster's time and the clock of this node.</summary>
/// <param name="Time">The cluster's time, as far as this node knows it.</param>
/// <param name="Doubt">Why the cluster's time is not trusted, and what to do; null if it is trusted.</param>
/// <param name="OwnAheadSeconds">Seconds by which this node's clock is ahead of the cluster's time; 0 if
/// unknown.</param>
/// <param name="IsOwnSynchronised">Whether this node's clock is synchronised with a time source.</param>
public readonly record struct ClockStatistics(
    ClusterTime Time,
    string? Doubt,
    double OwnAheadSeconds,
    bool IsOwnSynchronised
);

/// <summary>Free space of a majority of the voters.</summary>
/// <param name="LimitedBy">Letter of the limiting voter: the one with the least free space in the majority of voters
/// with the most.</param>
/// <param name="SpareBytes">That voter's free bytes beyond its reserve; negative below it.</param>
/// <param name="Refusal">Why writes that grow the data are refused, in one sentence; null if they are accepted.</param>
public sealed record ClusterCapacity(string LimitedBy, long SpareBytes, string? Refusal);

/// <summary>State of one member. Only the leader knows it for other members.</summary>
/// <param name="Member">The member.</param>
/// <param name="RecordVersion">Version of the member's cluster record; 0 for a single node.</param>
/// <param name="IsReachable">Whether the member answers; null if this node does not know.</param>
/// <param name="LagEntries">Number of log entries that the member lacks; null if this node does not know.</param>
/// <param name="SyncMicroseconds">99th percentile of the member's recent journal writes; null if this node does not
/// know.</param>
public sealed record MemberStatistics(
    ClusterViewMember Member,
    long RecordVersion,
    bool? IsReachable,
    long? LagEntries,
    long? SyncMicroseconds
)
{
    /// <summary>
    /// Seconds since the member last answered; null for this node itself, before the first answer, and if this node
    /// does not know.
    /// </summary>
    public double? HeardSeconds { get; init; }

    /// <summary>
    /// Seconds by which the member's clock is ahead of the cluster's time; null if this node does not know.
    /// </summary>
    public double? ClockAheadSeconds { get; init; }

    /// <summary>
    /// Whether the member's clock is synchronised with a time source; null if this node does not know.
    /// </summary>
    public bool? IsClockSynchronised { get; init; }

    /// <summary>The member's free bytes beyond its reserve; null if this node does not know.</summary>
    public long? SpareBytes { get; init; }

    /// <summary>
    /// The directory of this node's journal, if the journal's file system is full and that of the data is not;
    /// otherwise null. Always null for other members.
    /// </summary>
    public string? FullJournalDirectory { get; init; }
}
