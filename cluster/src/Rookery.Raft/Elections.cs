namespace Rookery.Raft;

/// <summary>
/// Elections: PreVote (thesis 9.6), CheckQuorum (6.2) and stickiness (4.2.3), which only work together.
/// </summary>
public sealed partial class RaftCore
{
    /// <summary>Syncs that a store must finish after a stall before its node campaigns again, or a minute.</summary>
    private const int SyncsAfterStall = 20;

    private const long BanMicroseconds = 60_000_000;

    private readonly List<NodeId> _votes = [];
    private bool _wasUnclean;
    private long _cautionEnds;
    private long _electionDeadline;
    private long _leaderHeardAt = long.MinValue / 2;
    private int _syncsUntilCampaign;
    private long _banEnds;

    private bool HasLeaderContact =>
        Role == Role.Leader || (!Leader.IsNone && _now - _leaderHeardAt < ElectionTimeoutMicroseconds);

    private bool IsOverStall => _syncsUntilCampaign == 0 || _now >= _banEnds;

    private bool MayCampaign =>
        _rules.MayStand(Configuration.IsVoter(Self))
        && !IsDamaged
        && _rules.MayStandAfterStall(IsOverStall, _now - _leaderHeardAt, ElectionTimeoutMicroseconds);

    private void Begin()
    {
        _cautionEnds = _wasUnclean ? _now + _options.CautionMicroseconds : _now;
        DrawElectionDeadline();
        if (Configuration.Majority == 1 && Configuration.IsVoter(Self))
        {
            _electionDeadline = _now;
        }
    }

    /// <summary>
    /// A draw between one and two election timeouts (paper 5.2). Worse boards draw half a timeout later; nobody is
    /// refused for it.
    /// </summary>
    private void DrawElectionDeadline()
    {
        long later = 0;
        if (_health.BoardPenalty > 0)
        {
            Coverage.Took(RareBranch.LaterDrawOfWorseBoard);
            later = ElectionTimeoutMicroseconds / 2;
        }

        _electionDeadline = _now + later + ElectionTimeoutMicroseconds + _random.NextInt64(ElectionTimeoutMicroseconds);
    }

    private void OnTick()
    {
        if (Role == Role.Leader)
        {
            LeadOn();
        }
        else if (_now >= _electionDeadline)
        {
            Leader = NodeId.None;
            Campaign();
        }
        else
        {
            AskAgainForReads();
        }
    }

    private void HearLeader()
    {
        _leaderHeardAt = _now;
        _cautionEnds = _now;
        DrawElectionDeadline();
    }

    private void Campaign()
    {
        DrawElectionDeadline();
        if (!MayCampaign)
        {
            // Learners, strangers and those who were removed never do.
            if (_rules.MayStand(Configuration.IsVoter(Self)))
            {
                Coverage.Took(IsDamaged ? RareBranch.NoCampaignWhenDamaged : RareBranch.NoCampaignAfterStall);
            }

            return;
        }

        if (!IsOverStall)
        {
            Coverage.Took(RareBranch.CampaignSoonAfterStall);
        }

        Role = Role.PreCandidate;
        _votes.Clear();
        _votes.Add(Self);
        AskForVotes(Make(MessageKind.PreVote, Self) with { Term = Term + 1 });
        CountPreVotes();
    }

    private void AskForVotes(Message question)
    {
        foreach (var voter in Configuration.Voters)
        {
            if (voter != Self)
            {
                Send(question with { To = voter, Position = _log.Last });
            }
        }
    }

    private void OnPreVote(in Message message)
    {
        bool granted = message.Term > Term && !HasLeaderContact && IsNewEnough(message.Position);
        Send(
            Make(MessageKind.PreVoteReply, message.From) with
            {
                Term = granted ? message.Term : Term,
                Refused = !granted,
                Position = _log.Last,
            }
        );
    }

    /// <summary>
    /// A refusal's higher term is adopted, else a long log at an old term and a short log at a new one would refuse
    /// each other for ever.
    /// </summary>
    private void OnPreVoteReply(in Message message)
    {
        if (message.Refused)
        {
            if (message.Term > Term)
            {
                Coverage.Took(RareBranch.AdoptedTermOfRefusal);
                BecomeFollower(message.Term, NodeId.None);
            }
        }
        else if (Role == Role.PreCandidate && message.Term == Term + 1)
        {
            CountVoteOf(message.From);
            CountPreVotes();
        }
    }

    private void CountPreVotes()
    {
        // After an unclean stop every voter must say that its log is no longer: our card may have lied about its last
        // sync, and another may hold what we lost.
        bool isCautious = _now < _cautionEnds;
        int needed = _rules.PreVotesNeeded(_rules.MajorityOf(Configuration), Configuration.Voters.Length, isCautious);
        if (isCautious)
        {
            Coverage.Took(RareBranch.CautiousCampaign);
        }

        if (_votes.Count >= needed)
        {
            StandForElection(isTransfer: false);
        }
    }

    private void StandForElection(bool isTransfer)
    {
        Term++;
        (Role, VotedFor, Leader) = (Role.Candidate, Self, NodeId.None);
        _durability.VoteChanged();
        _votes.Clear();
        DrawElectionDeadline();
        AskForVotes(Make(MessageKind.Vote, Self) with { IsTransfer = isTransfer });
        CountOwnVote();
    }

    /// <summary>
    /// Everybody with our cluster's id votes, learners too: a voter may not know yet that it is one. Only voters are
    /// counted.
    /// </summary>
    private void OnVote(in Message message)
    {
        if (message.Term > Term && HasLeaderContact && !message.IsTransfer)
        {
            Coverage.Took(RareBranch.IgnoredVote);
            return; // Stickiness: who hears a leader lets nobody disturb it.
        }

        if (message.Term > Term)
        {
            BecomeFollower(message.Term, NodeId.None);
        }

        bool granted =
            message.Term == Term
            && Role is Role.Follower or Role.PreCandidate
            && (VotedFor == message.From || (VotedFor.IsNone && Leader.IsNone))
            && _rules.MayVote(Configuration.IsVoter(Self))
            && IsNewEnough(message.Position);
        if (granted && VotedFor != message.From)
        {
            VotedFor = message.From;
            _durability.VoteChanged();
        }

        if (granted)
        {
            DrawElectionDeadline();
        }

        Send(Make(MessageKind.VoteReply, message.From) with { Refused = !granted });
    }

    private bool IsNewEnough(LogPosition candidate)
    {
        if (candidate >= _log.Last && candidate < _votedBy)
        {
            Coverage.Took(RareBranch.RefusedForLostTail);
        }

        return _rules.IsNewEnough(candidate, _log.Last, _votedBy);
    }

    private void OnVoteReply(in Message message)
    {
        if (Role == Role.Candidate && !message.Refused)
        {
            CountVoteOf(message.From);
            BecomeLeaderIfElected();
        }
    }

    private void CountOwnVote()
    {
        if (Role == Role.Candidate && _rules.HasOwnVote(_durability.VoteIsDurable))
        {
            CountVoteOf(Self);
            BecomeLeaderIfElected();
        }
    }

    private void CountVoteOf(NodeId node)
    {
        if (Configuration.IsVoter(node) && !_votes.Contains(node))
        {
            _votes.Add(node);
        }
    }

    private void BecomeLeaderIfElected()
    {
        if (_votes.Count >= _rules.MajorityOf(Configuration) && _votes.Contains(Self))
        {
            BecomeLeader();
        }
    }

    private void OnTimeoutNow()
    {
        if (_rules.MayStand(Configuration.IsVoter(Self)) && !IsDamaged)
        {
            Coverage.Took(RareBranch.CampaignByTransfer);
            StandForElection(isTransfer: true);
        }
    }

    private void CountGoodSync()
    {
        if (_syncsUntilCampaign > 0 && _health.StallMicroseconds == 0)
        {
            _syncsUntilCampaign--;
        }
    }
}
