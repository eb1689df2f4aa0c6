namespace Rookery.Raft;

/// <summary>The roles of a member.</summary>
public enum Role
{
    /// <summary>Accepts entries from a leader, or waits for one.</summary>
    Follower,

    /// <summary>Asks which voters would vote for it.</summary>
    PreCandidate,

    /// <summary>Requests votes in a new term.</summary>
    Candidate,

    /// <summary>Determines the order of entries.</summary>
    Leader,
}
