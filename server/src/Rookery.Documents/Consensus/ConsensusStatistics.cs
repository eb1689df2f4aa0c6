namespace Rookery.Documents.Consensus;

/// <summary>How a node stands in its cluster, for owners to see.</summary>
/// <param name="Role">"Leader", "Candidate", "Follower" or the like, as consensus calls it; "Learner" for a member that
/// does not vote, <see cref="NoRole"/> for a node that takes no part any more.</param>
/// <param name="Term">The consensus term.</param>
/// <param name="LeaderTag">The letter of who leads, or null when nobody is known to.</param>
/// <param name="LastIndex">The end of the log here.</param>
/// <param name="LastTerm">The term of the entry there.</param>
/// <param name="CommitIndex">Entries through here are committed, as far as this node knows.</param>
/// <param name="AppliedIndex">Entries through here are in the tables here.</param>
/// <param name="SyncMicroseconds">The 99th percentile of this node's recent journal writes; null before the
/// first.</param>
/// <param name="ElectionTimeoutMicroseconds">The election timeout in force: without a leader's sign of life for so
/// long, another is looked for.</param>
/// <param name="Trouble">Why writes and linearizable reads do not go through this node now, in a sentence; null when
/// they do.</param>
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
    /// <summary>The role of a node that was refused or removed, or halted.</summary>
    public const string NoRole = "None";

    /// <summary>
    /// Why this node is not ready to serve documents, though nothing is wrong with it, in a sentence: it joined, and
    /// does not have them yet. Null when it is.
    /// </summary>
    public string? Unready { get; init; }

    /// <summary>
    /// While nobody leads: where this node looks for each voter that it does not reach, and why in vain, a sentence
    /// each. For whoever may know of addresses.
    /// </summary>
    public IReadOnlyList<string> Unreached { get; init; } = [];

    /// <summary>The time.</summary>
    public ClockStatistics Clock { get; init; }

    /// <summary>
    /// The letter of who would lead if this node, which leads, went now; null when it does not lead, or nobody could.
    /// </summary>
    public string? SuccessorTag { get; init; }

    /// <summary>
    /// Who limits what the cluster takes; null unless this node leads several voters of which a majority answers.
    /// </summary>
    public ClusterCapacity? Capacity { get; init; }
}

/// <summary>What time it is for the cluster, and for the node itself.</summary>
/// <param name="Time">The cluster's, as far as this node knows it.</param>
/// <param name="Doubt">Why the cluster's is in doubt, and what to do, in sentences; null when it is not.</param>
/// <param name="OwnAheadSeconds">By how much the node's own clock is ahead of it; 0 while it is not known.</param>
/// <param name="IsOwnSynchronised">Whether the node's own clock follows a source of time.</param>
public readonly record struct ClockStatistics(
    ClusterTime Time,
    string? Doubt,
    double OwnAheadSeconds,
    bool IsOwnSynchronised
);

/// <summary>How much more a majority of the voters can take.</summary>
/// <param name="LimitedBy">The letter of the voter that limits it: with the most room of those that leave no majority
/// without it.</param>
/// <param name="SpareBytes">What that one has free beyond its reserve.</param>
/// <param name="Refusal">Why writes that grow the data are refused, in a sentence; null when they are not.</param>
public sealed record ClusterCapacity(string LimitedBy, long SpareBytes, string? Refusal);

/// <summary>How one member does. Only the leader knows that of the others.</summary>
/// <param name="Member">Who it is.</param>
/// <param name="RecordVersion">The version of its record in the cluster; 0 for a node alone.</param>
/// <param name="IsReachable">Whether it answers; null when this node does not know.</param>
/// <param name="LagEntries">How many entries of the log it lacks; null when this node does not know.</param>
/// <param name="SyncMicroseconds">The 99th percentile of its recent journal writes; null when this node does not
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
    /// How long ago it last answered; null for this node itself, for one that did not yet, and when this node does not
    /// know.
    /// </summary>
    public double? HeardSeconds { get; init; }

    /// <summary>By how much its clock is ahead of the cluster's time; null when this node does not know.</summary>
    public double? ClockAheadSeconds { get; init; }

    /// <summary>Whether its clock follows a source of time; null when this node does not know.</summary>
    public bool? IsClockSynchronised { get; init; }

    /// <summary>Bytes free there beyond its reserve; null when this node does not know.</summary>
    public long? SpareBytes { get; init; }
}
