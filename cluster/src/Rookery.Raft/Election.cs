namespace Rookery.Raft;

/// <summary>
/// Elections with PreVote (thesis 9.6), CheckQuorum (6.2) and leader stickiness (4.2.3). Each of the three works only
/// with the other two. Counts votes; <see cref="Member"/> makes this node leader when <see cref="IsWon"/>.
/// </summary>
internal sealed class Election(MemberState state, Outbox outbox, StartingPoint start)
{
    /// <summary>
    /// How long a node does not campaign after its disk stalled, in microseconds. <see cref="SyncsAfterStall"/> good
    /// syncs end the wait earlier.
    /// </summary>
    public const long BanMicroseconds = 60_000_000;

    private const int SyncsAfterStall = 20;

    private readonly Random _random = new(start.Seed);
    private readonly bool _wasUnclean = start.WasUnclean;
    private readonly List<NodeId> _votes = [];

    // Until this time a campaign needs the pre-votes of all voters; see CountPreVotes.
    private long _cautionEnds;
    private long _deadline;

    // Initially long ago. Half the minimum, so that a time minus this value does not overflow.
    private long _leaderHeardAt = long.MinValue / 2;

    // After a stall of the disk: no campaign until so many good syncs were counted, or until the ban ends.
    private int _syncsUntilCampaign;
    private long _banEnds;

    /// <summary>Whether the election deadline passed without a message from a leader.</summary>
    public bool IsDue => state.Now >= _deadline;

    /// <summary>Whether this candidate has the votes of a majority, including its own durable vote.</summary>
    public bool IsWon => state.Role == Role.Candidate && _votes.Count >= state.Majority && _votes.Contains(state.Self);

    private bool HasLeaderContact =>
        state.IsLeader || (!state.Leader.IsNone && state.Now - _leaderHeardAt < state.ElectionTimeoutMicroseconds);

    private bool HasRecoveredFromStall => _syncsUntilCampaign == 0 || state.Now >= _banEnds;

    private bool IsEligible => state.Rules.MayCampaign(state.IsVoter);

    private bool MayCampaign =>
        IsEligible
        && !state.Log.IsDamaged
        && state.Rules.MayCampaignAfterStall(
            HasRecoveredFromStall,
            state.Now - _leaderHeardAt,
            state.ElectionTimeoutMicroseconds
        );

    /// <summary>Starts the first election deadline. A node that is a majority by itself campaigns at once.</summary>
    public void Begin()
    {
        _cautionEnds = _wasUnclean ? state.Now + state.Options.CautionMicroseconds : state.Now;
        DrawDeadline();
        if (state.Configuration.Majority == 1 && state.IsVoter)
        {
            _deadline = state.Now;
        }
    }

    /// <summary>Starts to follow: waits a full timeout before campaigning.</summary>
    public void BeginToFollow()
    {
        ForgetVotes();
        DrawDeadline();
    }

    public void ForgetVotes() => _votes.Clear();

    /// <summary>
    /// Records a message of the leader: postpones the election deadline, and ends the caution after an unclean stop.
    /// </summary>
    public void RecordLeaderContact()
    {
        _leaderHeardAt = state.Now;
        _cautionEnds = state.Now;
        DrawDeadline();
    }

    /// <summary>Records the end of this node's leadership, which counts as contact with a leader.</summary>
    public void RecordLeadershipEnd() => _leaderHeardAt = state.Now;

    /// <summary>
    /// Prevents campaigns of this node after its disk stalled, for <see cref="BanMicroseconds"/> or until enough syncs
    /// were good.
    /// </summary>
    public void BanAfterStall() => (_banEnds, _syncsUntilCampaign) = (state.Now + BanMicroseconds, SyncsAfterStall);

    public void CountGoodSync()
    {
        if (_syncsUntilCampaign > 0 && state.Health.StallMicroseconds == 0)
        {
            _syncsUntilCampaign--;
        }
    }

    /// <summary>Requests pre-votes, if this node may campaign.</summary>
    public void Campaign()
    {
        DrawDeadline();
        if (!MayCampaign)
        {
            // Learners, removed nodes and nodes without a configuration never campaign, so they are not counted.
            if (IsEligible)
            {
                Coverage.Count(
                    state.Log.IsDamaged ? RareBranch.NoCampaignWhenDamaged : RareBranch.NoCampaignAfterStall
                );
            }

            return;
        }

        if (!HasRecoveredFromStall)
        {
            Coverage.Count(RareBranch.CampaignSoonAfterStall);
        }

        state.Role = Role.PreCandidate;
        _votes.Clear();
        _votes.Add(state.Self);
        AskForVotes(outbox.Make(MessageKind.PreVote, state.Self) with { Term = state.Term + 1 });
        CountPreVotes();
    }

    /// <summary>Starts an election at once, because the leader transfers leadership to this node.</summary>
    public void CampaignByTransfer()
    {
        if (IsEligible && !state.Log.IsDamaged)
        {
            Coverage.Count(RareBranch.CampaignByTransfer);
            BecomeCandidate(isTransfer: true);
        }
    }

    public void AnswerPreVote(in Message message)
    {
        bool granted = message.Term > state.Term && !HasLeaderContact && IsNewEnough(message.Position);
        outbox.Send(
            outbox.Make(MessageKind.PreVoteReply, message.From) with
            {
                Term = granted ? message.Term : state.Term,
                Refused = !granted,
                Position = state.Log.Entries.Last,
            }
        );
    }

    /// <summary>Counts a granted pre-vote.</summary>
    public void CountPreVote(in Message message)
    {
        if (state.Role == Role.PreCandidate && message.Term == state.Term + 1)
        {
            CountVoteOf(message.From);
            CountPreVotes();
        }
    }

    /// <summary>Whether to ignore a vote request because this node hears a leader (stickiness).</summary>
    public bool Ignores(in Message vote)
    {
        bool ignores = vote.Term > state.Term && HasLeaderContact && !vote.IsTransfer;
        if (ignores)
        {
            Coverage.Count(RareBranch.IgnoredVote);
        }

        return ignores;
    }

    /// <summary>
    /// Answers a vote request. Learners and nodes outside the configuration vote too, because a voter may not have
    /// received the configuration that makes it a voter. Only voters are counted.
    /// </summary>
    public void AnswerVote(in Message message)
    {
        bool granted =
            message.Term == state.Term
            && state.Role is Role.Follower or Role.PreCandidate
            && (state.VotedFor == message.From || (state.VotedFor.IsNone && state.Leader.IsNone))
            && state.Rules.MayVote(state.IsVoter)
            && IsNewEnough(message.Position);
        if (granted && state.VotedFor != message.From)
        {
            state.SetVote(state.Term, message.From);
        }

        if (granted)
        {
            DrawDeadline();
        }

        outbox.Send(outbox.Make(MessageKind.VoteReply, message.From) with { Refused = !granted });
    }

    public void HandleVoteReply(in Message message)
    {
        if (state.Role == Role.Candidate && !message.Refused)
        {
            CountVoteOf(message.From);
        }
    }

    /// <summary>Counts the candidate's own vote once it is durable.</summary>
    public void CountOwnVote()
    {
        if (state.Role == Role.Candidate && state.Rules.HasOwnVote(state.Log.Durability.VoteIsDurable))
        {
            CountVoteOf(state.Self);
        }
    }

    /// <summary>
    /// Draws the election deadline between one and two election timeouts from now (paper 5.2), half a timeout later on
    /// a worse board. The board only delays a campaign; it has no influence on votes.
    /// </summary>
    private void DrawDeadline()
    {
        long timeout = state.ElectionTimeoutMicroseconds;
        long later = 0;
        if (state.Health.BoardPenalty > 0)
        {
            Coverage.Count(RareBranch.LaterDrawOfWorseBoard);
            later = timeout / 2;
        }

        _deadline = state.Now + later + timeout + _random.NextInt64(timeout);
    }

    private void AskForVotes(Message question)
    {
        foreach (var voter in state.Configuration.Voters)
        {
            if (voter != state.Self)
            {
                outbox.Send(question with { To = voter, Position = state.Log.Entries.Last });
            }
        }
    }

    private void CountPreVotes()
    {
        // After an unclean stop, every voter must confirm that its log is not longer than this one. This node's disk
        // may have reported its last sync wrongly, and another node may have the lost entries.
        bool isCautious = state.Now < _cautionEnds;
        int needed = state.Rules.PreVotesNeeded(state.Majority, state.Configuration.Voters.Length, isCautious);
        if (isCautious)
        {
            Coverage.Count(RareBranch.CautiousCampaign);
        }

        if (_votes.Count >= needed)
        {
            BecomeCandidate(isTransfer: false);
        }
    }

    private void BecomeCandidate(bool isTransfer)
    {
        (state.Role, state.Leader) = (Role.Candidate, NodeId.None);
        state.SetVote(state.Term + 1, state.Self);
        _votes.Clear();
        DrawDeadline();
        AskForVotes(outbox.Make(MessageKind.Vote, state.Self) with { IsTransfer = isTransfer });
        CountOwnVote();
    }

    private bool IsNewEnough(LogPosition candidate)
    {
        var last = state.Log.Entries.Last;
        if (candidate >= last && candidate < state.Log.MayHaveAcknowledged)
        {
            Coverage.Count(RareBranch.RefusedForLostTail);
        }

        return state.Rules.IsNewEnough(candidate, last, state.Log.MayHaveAcknowledged);
    }

    private void CountVoteOf(NodeId node)
    {
        if (state.Configuration.IsVoter(node) && !_votes.Contains(node))
        {
            _votes.Add(node);
        }
    }
}
