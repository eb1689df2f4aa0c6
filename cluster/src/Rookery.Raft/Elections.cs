namespace Rookery.Raft;

/// <summary>Elections: PreVote (thesis 9.6), CheckQuorum (6.2) and stickiness (4.2.3), which only work together.</summary>
public sealed partial class RaftCore
{
    /// <summary>Syncs that a store must finish after a stall before its node campaigns again, or a minute.</summary>
    private const int SyncsAfterStall = 20;

    private const long BanMicroseconds = 60_000_000;

    private readonly List<NodeId> votes = [];
    private bool wasUnclean;
    private long cautionEnds;
    private long electionDeadline;
    private long leaderHeardAt = long.MinValue / 2;
    private int syncsUntilCampaign;
    private long banEnds;

    private bool HasLeaderContact => Role == Role.Leader || (!Leader.IsNone && now - leaderHeardAt < ElectionTimeoutMicroseconds);

    private bool IsOverStall => syncsUntilCampaign == 0 || now >= banEnds;

    private bool MayCampaign => rules.MayStand(Configuration.IsVoter(Self)) && !IsDamaged && rules.MayStandAfterStall(IsOverStall, now - leaderHeardAt, ElectionTimeoutMicroseconds);

    private void Begin()
    {
        cautionEnds = wasUnclean ? now + options.CautionMicroseconds : now;
        DrawElectionDeadline();
        if (Configuration.Majority == 1 && Configuration.IsVoter(Self))
        {
            electionDeadline = now;
        }
    }

    /// <summary>A draw between one and two election timeouts (paper 5.2). Worse boards draw half a timeout later; nobody is refused for it.</summary>
    private void DrawElectionDeadline()
    {
        long later = 0;
        if (health.BoardPenalty > 0)
        {
            Coverage.Took(RareBranch.LaterDrawOfWorseBoard);
            later = ElectionTimeoutMicroseconds / 2;
        }

        electionDeadline = now + later + ElectionTimeoutMicroseconds + random.NextInt64(ElectionTimeoutMicroseconds);
    }

    private void OnTick()
    {
        if (Role == Role.Leader)
        {
            LeadOn();
        }
        else if (now >= electionDeadline)
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
        leaderHeardAt = now;
        cautionEnds = now;
        DrawElectionDeadline();
    }

    private void Campaign()
    {
        DrawElectionDeadline();
        if (!MayCampaign)
        {
            // Learners, strangers and those who were removed never do.
            if (rules.MayStand(Configuration.IsVoter(Self)))
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
        votes.Clear();
        votes.Add(Self);
        AskForVotes(Make(MessageKind.PreVote, Self) with { Term = Term + 1 });
        CountPreVotes();
    }

    private void AskForVotes(Message question)
    {
        foreach (var voter in Configuration.Voters)
        {
            if (voter != Self)
            {
                Send(question with { To = voter, Position = log.Last });
            }
        }
    }

    private void OnPreVote(in Message message)
    {
        bool granted = message.Term > Term && !HasLeaderContact && IsNewEnough(message.Position);
        Send(Make(MessageKind.PreVoteReply, message.From) with { Term = granted ? message.Term : Term, Refused = !granted, Position = log.Last });
    }

    /// <summary>
    /// A refusal's higher term is adopted, else a long log at an old term and a short log at a new one would refuse each other for ever.
    /// </summary>
    private void OnPreVoteReply(in Message message)
    {
        if (message.Refused)
        {
            if (message.Term > Term)
            {
                Coverage.Took(RareBranch.AdoptedTermOfRefusal);
                Follow(message.Term, NodeId.None);
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
        // After an unclean stop every voter must say that its log is no longer: our card may have lied about its last sync, and another may hold what we lost.
        bool isCautious = now < cautionEnds;
        int needed = rules.PreVotesNeeded(rules.MajorityOf(Configuration), Configuration.Voters.Length, isCautious);
        if (isCautious)
        {
            Coverage.Took(RareBranch.CautiousCampaign);
        }

        if (votes.Count >= needed)
        {
            StandForElection(isTransfer: false);
        }
    }

    private void StandForElection(bool isTransfer)
    {
        Term++;
        (Role, VotedFor, Leader) = (Role.Candidate, Self, NodeId.None);
        durability.VoteChanged();
        votes.Clear();
        DrawElectionDeadline();
        AskForVotes(Make(MessageKind.Vote, Self) with { IsTransfer = isTransfer });
        CountOwnVote();
    }

    /// <summary>Everybody with our cluster's id votes, learners too: a voter may not know yet that it is one. Only voters are counted.</summary>
    private void OnVote(in Message message)
    {
        if (message.Term > Term && HasLeaderContact && !message.IsTransfer)
        {
            Coverage.Took(RareBranch.IgnoredVote);
            return; // Stickiness: who hears a leader lets nobody disturb it.
        }

        if (message.Term > Term)
        {
            Follow(message.Term, NodeId.None);
        }

        bool granted = message.Term == Term && Role is Role.Follower or Role.PreCandidate && (VotedFor == message.From || (VotedFor.IsNone && Leader.IsNone))
            && rules.MayVote(Configuration.IsVoter(Self)) && IsNewEnough(message.Position);
        if (granted && VotedFor != message.From)
        {
            VotedFor = message.From;
            durability.VoteChanged();
        }

        if (granted)
        {
            DrawElectionDeadline();
        }

        Send(Make(MessageKind.VoteReply, message.From) with { Refused = !granted });
    }

    private bool IsNewEnough(LogPosition candidate)
    {
        if (candidate >= log.Last && candidate < votedBy)
        {
            Coverage.Took(RareBranch.RefusedForLostTail);
        }

        return rules.IsNewEnough(candidate, log.Last, votedBy);
    }

    private void OnVoteReply(in Message message)
    {
        if (Role == Role.Candidate && !message.Refused)
        {
            CountVoteOf(message.From);
            TakeOfficeIfElected();
        }
    }

    private void CountOwnVote()
    {
        if (Role == Role.Candidate && rules.HasOwnVote(durability.VoteIsDurable))
        {
            CountVoteOf(Self);
            TakeOfficeIfElected();
        }
    }

    private void CountVoteOf(NodeId node)
    {
        if (Configuration.IsVoter(node) && !votes.Contains(node))
        {
            votes.Add(node);
        }
    }

    private void TakeOfficeIfElected()
    {
        if (votes.Count >= rules.MajorityOf(Configuration) && votes.Contains(Self))
        {
            TakeOffice();
        }
    }

    private void OnTimeoutNow()
    {
        if (rules.MayStand(Configuration.IsVoter(Self)) && !IsDamaged)
        {
            Coverage.Took(RareBranch.CampaignByTransfer);
            StandForElection(isTransfer: true);
        }
    }

    private void CountGoodSync()
    {
        if (syncsUntilCampaign > 0 && health.StallMicroseconds == 0)
        {
            syncsUntilCampaign--;
        }
    }
}
