namespace Rookery.Raft;

/// <summary>
/// What a member is and knows, for all parts of the core (the paper, figure 2): its term, vote and role, its log, and
/// what time it is.
/// </summary>
internal sealed class MemberState
{
    public MemberState(StartingPoint start, CoreOptions options, SafetyRules rules)
    {
        ConsensusException.Unless(!start.Self.IsNone, "a node has an id");
        (Options, Rules) = (options, rules);
        (Self, Incarnation) = (start.Self, start.Incarnation);
        (Term, VotedFor) = (start.Vote.Term, start.Vote.VotedFor);
        Log = new RaftLog(start, rules);
        ElectionTimeoutMicroseconds = options.FirstElectionTimeoutMicroseconds;
    }

    public CoreOptions Options { get; }

    public SafetyRules Rules { get; }

    /// <summary>This node.</summary>
    public NodeId Self { get; }

    /// <summary>How often this node's store was started.</summary>
    public long Incarnation { get; }

    public RaftLog Log { get; }

    public Role Role { get; set; }

    /// <summary>The current term.</summary>
    public long Term { get; private set; }

    /// <summary>Who has this node's vote in <see cref="Term"/>.</summary>
    public NodeId VotedFor { get; private set; }

    /// <summary>Who leads in <see cref="Term"/>, if that is known.</summary>
    public NodeId Leader { get; set; }

    /// <summary>The time of the step, in microseconds.</summary>
    public long Now { get; set; }

    /// <summary>The election timeout in force, one for the whole cluster.</summary>
    public long ElectionTimeoutMicroseconds { get; set; }

    /// <summary>How the own store and board do.</summary>
    public StoreHealth Health { get; set; }

    public bool IsLeader => Role == Role.Leader;

    /// <summary>Who belongs to the cluster.</summary>
    public Configuration Configuration => Log.Configuration;

    /// <summary>Whether this node is counted in the configuration in force.</summary>
    public bool IsVoter => Configuration.IsVoter(Self);

    /// <summary>How many voters make a majority.</summary>
    public int Majority => Rules.MajorityOf(Configuration);

    /// <summary>Whether a leader knows all that was committed before its term.</summary>
    public bool OwnTermIsCommitted => Log.CommittedTerm == Term;

    /// <summary>Begins <paramref name="term"/>, or votes in it. The vote record goes into the next write.</summary>
    public void SetVote(long term, NodeId votedFor)
    {
        (Term, VotedFor) = (term, votedFor);
        Log.Durability.VoteChanged();
    }

    /// <summary>Whether a journal write shows no sign of life for too long.</summary>
    public bool IsStalled(StoreHealth of) =>
        of.StallMicroseconds > Math.Max(Options.ShortestStallMicroseconds, ElectionTimeoutMicroseconds);
}
