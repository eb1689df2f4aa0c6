namespace Rookery.Raft;

/// <summary>The roles of a member.</summary>
public enum Role
{
    /// <summary>Accepts entries from a leader, or waits for one.</summary>
    Follower,

    /// <summary>Requests pre-votes: asks whether the voters would vote for this node.</summary>
    PreCandidate,

    /// <summary>Requests votes in a new term.</summary>
    Candidate,

    /// <summary>Appends new entries and replicates them.</summary>
    Leader,
}
