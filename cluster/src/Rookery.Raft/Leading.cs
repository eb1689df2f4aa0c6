namespace Rookery.Raft;

/// <summary>A leader's office: taking it, keeping it, leaving it.</summary>
public sealed partial class RaftCore
{
    private readonly List<Progress> peers = [];
    private long heartbeatDue;
    private long betterBoardSince;
    private long stallHandledAt = long.MinValue / 2;
    private bool stepsDownUnlessTransferred;

    private bool OwnTermIsCommitted => log.TermAt(CommitIndex) == Term;

    private void TakeOffice()
    {
        (Role, Leader) = (Role.Leader, Self);
        votes.Clear();
        peers.Clear();
        WithdrawQuestion();
        (heartbeatDue, betterBoardSince, knowsLogTime) = (now, now, false);
        RefreshPeers();
        HoldBackInherited();
        AppendOwn(EntryType.NoOp, configuration: null);
        LeadOn();
    }

    /// <summary>What a leader does as time goes on.</summary>
    private void LeadOn()
    {
        if (!rules.MayStayInOffice(HearsMajority(ElectionTimeoutMicroseconds)))
        {
            Coverage.Took(RareBranch.LostQuorum);
            StepDown(CoreEvent.QuorumLost);
            return;
        }

        if (EndLateTransfer() && stepsDownUnlessTransferred)
        {
            Coverage.Took(RareBranch.SteppedDownWithoutTransfer);
            Follow(Term, NodeId.None);
            return;
        }

        MindBoards();
        ForgetRemoved();
        if (now >= heartbeatDue)
        {
            ElectionTimeoutMicroseconds = MeasureElectionTimeout();
            SendHeartbeats();
        }

        foreach (var peer in peers)
        {
            RetryIfLost(peer);
        }
    }

    private void StepDown(CoreEvent why)
    {
        output.Tell(why, Self);
        Follow(Term, NodeId.None);
    }

    private void LeaveOffice()
    {
        if (Role == Role.Leader)
        {
            leaderHeardAt = now;
            peers.Clear();
            transferTo = rules.TransferAfterOffice(transferTo);
            stepsDownUnlessTransferred = false;
            ForgetOutcomes();
            TakeReadsBack();
        }
    }

    /// <summary>CheckQuorum: a leader that a majority does not answer holds up clients and nobody else (thesis 6.2).</summary>
    private bool HearsMajority(long within)
    {
        int heard = 0;
        foreach (var voter in Configuration.Voters)
        {
            heard += voter == Self || (Find(voter) is { } peer && now - peer.LastContact <= within) ? 1 : 0;
        }

        return heard >= rules.MajorityOf(Configuration);
    }

    /// <summary>Ten round trips and four syncs of the slowest voter: a leader that is only slow keeps its office.</summary>
    private long MeasureElectionTimeout()
    {
        long slowestTrip = 0, slowestSync = health.SyncMicroseconds;
        foreach (var peer in peers)
        {
            if (Configuration.IsVoter(peer.Node))
            {
                slowestTrip = Math.Max(slowestTrip, peer.RoundTrips.SlowMicroseconds);
                slowestSync = Math.Max(slowestSync, peer.Health.SyncMicroseconds);
            }
        }

        bool wasMeasured = slowestTrip > 0 || slowestSync > 0;
        long measured = wasMeasured ? (10 * slowestTrip) + (4 * slowestSync) : options.FirstElectionTimeoutMicroseconds;

        // It falls slowly: what was heard within the timeout of the last heartbeat must be within that of the next.
        measured = Math.Max(measured, ElectionTimeoutMicroseconds * 3 / 4);
        return Math.Clamp(measured, options.ShortestElectionTimeoutMicroseconds, options.LongestElectionTimeoutMicroseconds);
    }

    private void SendHeartbeats()
    {
        heartbeatDue = now + (ElectionTimeoutMicroseconds / 6);
        long outcomeIndex = OutcomeToAskFor();
        foreach (var peer in peers)
        {
            peer.CommitSent = Math.Max(peer.CommitSent, Math.Min(CommitIndex, peer.Match));
            Send(Make(MessageKind.Heartbeat, peer.Node) with
            {
                Commit = Math.Min(CommitIndex, peer.Match),
                Sequence = readRound,
                SentAtMicroseconds = now,
                ElectionTimeoutMicroseconds = ElectionTimeoutMicroseconds,
                Outcome = agreedOutcome,
                OutcomeIndex = outcomeIndex,
                Clock = clusterClock.At(now),
            });
        }
    }

    private void OnHeartbeat(in Message message)
    {
        ElectionTimeoutMicroseconds = message.ElectionTimeoutMicroseconds;
        CommitAsFollower(message.Commit);
        clusterClock.HearLeader(now, message.Clock);
        Send(Reply(message, MessageKind.HeartbeatReply) with { Health = health, Outcome = outcomes.At(message.OutcomeIndex), Clock = OwnClock() });
        HearAgreedOutcome(message.Outcome);
    }

    private void OnHeartbeatReply(in Message message)
    {
        if (Role != Role.Leader || Hear(message) is not { } peer)
        {
            return;
        }

        (peer.Health, peer.HasToldHealth) = (message.Health, true);
        TakeClock(peer, message.Clock);
        if (message.SentAtMicroseconds > 0)
        {
            peer.RoundTrips.Add(Math.Max(now - message.SentAtMicroseconds, 1));
        }

        peer.Sequence = Math.Max(peer.Sequence, message.Sequence);
        peer.CountRound(log.LastIndex, now, ElectionTimeoutMicroseconds);
        FinishReadRound();
        Replicate(peer);
        TakeOutcome(peer, message.Outcome);
    }

    /// <summary>The peer that a message came from, which lives, unless the message is of an earlier start of its store.</summary>
    private Progress? Hear(in Message message)
    {
        if (Find(message.From) is not { } peer)
        {
            return null;
        }

        if (!rules.CountsAnswer(message.Incarnation, peer.Incarnation))
        {
            Coverage.Took(RareBranch.HeardOldIncarnation);
            output.Tell(CoreEvent.OldIncarnation, message.From);
            return null;
        }

        if (message.Incarnation > peer.Incarnation)
        {
            Coverage.Took(RareBranch.HeardNewIncarnation);
            peer.Incarnation = message.Incarnation;
            peer.HasToldHealth = false;
            peer.ProbeFrom(peer.Next, now);
        }

        peer.LastContact = now;
        return peer;
    }

    private void OnHealth(StoreHealth measured)
    {
        health = measured;
        bool stalls = IsStalled(measured);
        if (Role == Role.Leader && stalls && now - stallHandledAt >= BanMicroseconds && !EveryVoterStalls())
        {
            (stallHandledAt, banEnds, syncsUntilCampaign) = (now, now + BanMicroseconds, SyncsAfterStall);
            output.Tell(CoreEvent.LeaderStoreStalled, Self);
            var successor = BestSuccessor();
            stepsDownUnlessTransferred = !successor.IsNone;
            if (stepsDownUnlessTransferred)
            {
                Coverage.Took(RareBranch.StallHandsOver);
                BeginTransfer(successor);
            }
            else
            {
                Coverage.Took(RareBranch.StallStepsDown);
                Follow(Term, NodeId.None);
            }
        }
    }

    private bool IsStalled(StoreHealth of) => of.StallMicroseconds > Math.Max(options.ShortestStallMicroseconds, ElectionTimeoutMicroseconds);

    private bool EveryVoterStalls()
    {
        bool isAlone = true;
        foreach (var peer in peers)
        {
            if (Configuration.IsVoter(peer.Node))
            {
                isAlone = false;
                if (!IsStalled(peer.Health))
                {
                    return false;
                }
            }
        }

        if (!isAlone)
        {
            Coverage.Took(RareBranch.StallOfAll);
        }

        return true;
    }

    /// <summary>Hands over to a board that has been clearly better for some minutes; at once, when this store cannot apply. A preference never refuses a vote.</summary>
    private void MindBoards()
    {
        bool betterExists = false;
        foreach (var peer in peers)
        {
            betterExists |= Configuration.IsVoter(peer.Node) && peer.HasToldHealth && peer.Health.BoardPenalty < health.BoardPenalty && now - peer.LastContact < ElectionTimeoutMicroseconds;
        }

        if (!betterExists)
        {
            betterBoardSince = now;
        }
        else if ((health.BoardPenalty == StoreHealth.CannotApply || now - betterBoardSince >= options.PreferenceMicroseconds) && BestSuccessor(mustHaveToldHealth: true) is { IsNone: false } successor
            && Find(successor)!.Health.BoardPenalty < health.BoardPenalty)
        {
            Coverage.Took(RareBranch.HandedToBetterBoard);
            betterBoardSince = now;
            BeginTransfer(successor);
        }
    }
}
