namespace Rookery.Raft;

/// <summary>The parts a member can play.</summary>
public enum Role
{
    /// <summary>It takes entries from a leader, or waits for one.</summary>
    Follower,

    /// <summary>It asks who would vote for it.</summary>
    PreCandidate,

    /// <summary>It asks for votes in a new term.</summary>
    Candidate,

    /// <summary>It decides the order of entries.</summary>
    Leader,
}
