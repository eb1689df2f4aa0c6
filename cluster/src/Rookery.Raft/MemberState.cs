namespace Rookery.Raft;

/// <summary>The state that all parts of the core share: term, vote, role, log and time (the paper, figure 2).</summary>
internal sealed class MemberState
{
    public MemberState(StartingPoint start, CoreOptions options, SafetyRules rules)
    {
        ConsensusException.Unless(!start.Self.IsNone, "a node has an id");
        (Options, Rules) = (options, rules);
        (Self, StartNumber) = (start.Self, start.StartNumber);
        (Term, VotedFor) = (start.Vote.Term, start.Vote.VotedFor);
        Log = new RaftLog(start, rules);
        ElectionTimeoutMicroseconds = options.FirstElectionTimeoutMicroseconds;
    }

    public CoreOptions Options { get; }

    public SafetyRules Rules { get; }

    /// <summary>This node.</summary>
    public NodeId Self { get; }

    /// <summary>How often this node's store was started, including this start.</summary>
    public long StartNumber { get; }

    public RaftLog Log { get; }

    public Role Role { get; set; }

    /// <summary>The current term.</summary>
    public long Term { get; private set; }

    /// <summary>The member that this node voted for in <see cref="Term"/>; none when it has not voted.</summary>
    public NodeId VotedFor { get; private set; }

    /// <summary>The leader of <see cref="Term"/>; none when unknown.</summary>
    public NodeId Leader { get; set; }

    /// <summary>The time of the step, in microseconds.</summary>
    public long Now { get; set; }

    /// <summary>The current election timeout, the same for all members.</summary>
    public long ElectionTimeoutMicroseconds { get; set; }

    /// <summary>The last health measurement of this node.</summary>
    public StoreHealth Health { get; set; }

    public bool IsLeader => Role == Role.Leader;

    /// <summary>The newest configuration in the log.</summary>
    public Configuration Configuration => Log.Configuration;

    /// <summary>Whether this node is a voter of the newest configuration.</summary>
    public bool IsVoter => Configuration.IsVoter(Self);

    /// <summary>The number of voters in a majority.</summary>
    public int Majority => Rules.MajorityOf(Configuration);

    /// <summary>
    /// Whether an entry of this term is committed. A leader then knows all entries committed before its term.
    /// </summary>
    public bool OwnTermIsCommitted => Log.CommittedTerm == Term;

    /// <summary>Sets term and vote. The vote record goes into the next write.</summary>
    public void SetVote(long term, NodeId votedFor)
    {
        (Term, VotedFor) = (term, votedFor);
        Log.Durability.MarkVoteChanged();
    }

    /// <summary>Whether a store's outstanding journal write has made no progress for too long.</summary>
    public bool IsStalled(StoreHealth health) =>
        health.StallMicroseconds > Math.Max(Options.ShortestStallMicroseconds, ElectionTimeoutMicroseconds);
}
