namespace Rookery.Raft;

/// <summary>Leadership: becoming leader, staying leader, stepping down.</summary>
public sealed partial class RaftCore
{
    private readonly List<Progress> _peers = [];
    private long _heartbeatDue;
    private long _betterBoardSince;
    private long _stallHandledAt = long.MinValue / 2;
    private bool _stepsDownUnlessTransferred;

    private bool OwnTermIsCommitted => _log.TermAt(CommitIndex) == Term;

    private void BecomeLeader()
    {
        (Role, Leader) = (Role.Leader, Self);
        _votes.Clear();
        _peers.Clear();
        WithdrawQuestion();
        (_heartbeatDue, _betterBoardSince, _knowsLogTime) = (_now, _now, false);
        RefreshPeers();
        HoldBackInherited();
        AppendOwn(EntryType.NoOp, configuration: null);
        LeadOn();
    }

    /// <summary>What a leader does as time goes on.</summary>
    private void LeadOn()
    {
        if (!_rules.MayStayLeader(HearsMajority(ElectionTimeoutMicroseconds)))
        {
            Coverage.Took(RareBranch.LostQuorum);
            StepDown(CoreEvent.QuorumLost);
            return;
        }

        if (EndLateTransfer() && _stepsDownUnlessTransferred)
        {
            Coverage.Took(RareBranch.SteppedDownWithoutTransfer);
            BecomeFollower(Term, NodeId.None);
            return;
        }

        MindBoards();
        ForgetRemoved();
        if (_now >= _heartbeatDue)
        {
            ElectionTimeoutMicroseconds = MeasureElectionTimeout();
            SendHeartbeats();
        }

        foreach (var peer in _peers)
        {
            RetryIfLost(peer);
        }
    }

    private void StepDown(CoreEvent why)
    {
        _output.Tell(why, Self);
        BecomeFollower(Term, NodeId.None);
    }

    private void LeaveLeadership()
    {
        if (Role == Role.Leader)
        {
            _leaderHeardAt = _now;
            _peers.Clear();
            _transferTo = _rules.TransferAfterLeadership(_transferTo);
            _stepsDownUnlessTransferred = false;
            ForgetOutcomes();
            TakeReadsBack();
        }
    }

    /// <summary>
    /// CheckQuorum: a leader that a majority does not answer holds up clients and nobody else (thesis 6.2).
    /// </summary>
    private bool HearsMajority(long within)
    {
        int heard = 0;
        foreach (var voter in Configuration.Voters)
        {
            heard += voter == Self || (Find(voter) is { } peer && _now - peer.LastContact <= within) ? 1 : 0;
        }

        return heard >= _rules.MajorityOf(Configuration);
    }

    /// <summary>
    /// Ten round trips and four syncs of the slowest voter: a leader that is only slow stays leader.
    /// </summary>
    private long MeasureElectionTimeout()
    {
        long slowestTrip = 0,
            slowestSync = _health.SyncMicroseconds;
        foreach (var peer in _peers)
        {
            if (Configuration.IsVoter(peer.Node))
            {
                slowestTrip = Math.Max(slowestTrip, peer.RoundTrips.SlowMicroseconds);
                slowestSync = Math.Max(slowestSync, peer.Health.SyncMicroseconds);
            }
        }

        bool wasMeasured = slowestTrip > 0 || slowestSync > 0;
        long measured = wasMeasured
            ? (10 * slowestTrip) + (4 * slowestSync)
            : _options.FirstElectionTimeoutMicroseconds;

        // It falls slowly: what was heard within the timeout of the last heartbeat must be within that of the next.
        measured = Math.Max(measured, ElectionTimeoutMicroseconds * 3 / 4);
        return Math.Clamp(
            measured,
            _options.ShortestElectionTimeoutMicroseconds,
            _options.LongestElectionTimeoutMicroseconds
        );
    }

    private void SendHeartbeats()
    {
        _heartbeatDue = _now + (ElectionTimeoutMicroseconds / 6);
        long outcomeIndex = OutcomeToAskFor();
        foreach (var peer in _peers)
        {
            peer.CommitSent = Math.Max(peer.CommitSent, Math.Min(CommitIndex, peer.Match));
            Send(
                Make(MessageKind.Heartbeat, peer.Node) with
                {
                    Commit = Math.Min(CommitIndex, peer.Match),
                    Sequence = _readRound,
                    SentAtMicroseconds = _now,
                    ElectionTimeoutMicroseconds = ElectionTimeoutMicroseconds,
                    Outcome = _agreedOutcome,
                    OutcomeIndex = outcomeIndex,
                    Clock = _clusterClock.At(_now),
                }
            );
        }
    }

    private void OnHeartbeat(in Message message)
    {
        ElectionTimeoutMicroseconds = message.ElectionTimeoutMicroseconds;
        CommitAsFollower(message.Commit);
        _clusterClock.HearLeader(_now, message.Clock);
        Send(
            Reply(message, MessageKind.HeartbeatReply) with
            {
                Health = _health,
                Outcome = _outcomes.At(message.OutcomeIndex),
                Clock = OwnClock(),
            }
        );
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
            peer.RoundTrips.Add(Math.Max(_now - message.SentAtMicroseconds, 1));
        }

        peer.Sequence = Math.Max(peer.Sequence, message.Sequence);
        peer.CountRound(_log.LastIndex, _now, ElectionTimeoutMicroseconds);
        FinishReadRound();
        Replicate(peer);
        TakeOutcome(peer, message.Outcome);
    }

    /// <summary>
    /// The peer that a message came from, which lives, unless the message is of an earlier start of its store.
    /// </summary>
    private Progress? Hear(in Message message)
    {
        if (Find(message.From) is not { } peer)
        {
            return null;
        }

        if (!_rules.CountsAnswer(message.Incarnation, peer.Incarnation))
        {
            Coverage.Took(RareBranch.HeardOldIncarnation);
            _output.Tell(CoreEvent.OldIncarnation, message.From);
            return null;
        }

        if (message.Incarnation > peer.Incarnation)
        {
            Coverage.Took(RareBranch.HeardNewIncarnation);
            peer.Incarnation = message.Incarnation;
            peer.HasToldHealth = false;
            peer.ProbeFrom(peer.Next, _now);
        }

        peer.LastContact = _now;
        return peer;
    }

    private void OnHealth(StoreHealth measured)
    {
        _health = measured;
        bool stalls = IsStalled(measured);
        if (Role == Role.Leader && stalls && _now - _stallHandledAt >= BanMicroseconds && !EveryVoterStalls())
        {
            (_stallHandledAt, _banEnds, _syncsUntilCampaign) = (_now, _now + BanMicroseconds, SyncsAfterStall);
            _output.Tell(CoreEvent.LeaderStoreStalled, Self);
            var successor = BestSuccessor();
            _stepsDownUnlessTransferred = !successor.IsNone;
            if (_stepsDownUnlessTransferred)
            {
                Coverage.Took(RareBranch.StallHandsOver);
                BeginTransfer(successor);
            }
            else
            {
                Coverage.Took(RareBranch.StallStepsDown);
                BecomeFollower(Term, NodeId.None);
            }
        }
    }

    private bool IsStalled(StoreHealth of) =>
        of.StallMicroseconds > Math.Max(_options.ShortestStallMicroseconds, ElectionTimeoutMicroseconds);

    private bool EveryVoterStalls()
    {
        bool isAlone = true;
        foreach (var peer in _peers)
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

    /// <summary>
    /// Hands over to a board that has been clearly better for some minutes; at once, when this store cannot apply. A
    /// preference never refuses a vote.
    /// </summary>
    private void MindBoards()
    {
        bool betterExists = false;
        foreach (var peer in _peers)
        {
            betterExists |=
                Configuration.IsVoter(peer.Node)
                && peer.HasToldHealth
                && peer.Health.BoardPenalty < _health.BoardPenalty
                && _now - peer.LastContact < ElectionTimeoutMicroseconds;
        }

        if (!betterExists)
        {
            _betterBoardSince = _now;
        }
        else if (
            (
                _health.BoardPenalty == StoreHealth.CannotApply
                || _now - _betterBoardSince >= _options.PreferenceMicroseconds
            )
            && BestSuccessor(mustHaveToldHealth: true) is { IsNone: false } successor
            && Find(successor)!.Health.BoardPenalty < _health.BoardPenalty
        )
        {
            Coverage.Took(RareBranch.HandedToBetterBoard);
            _betterBoardSince = _now;
            BeginTransfer(successor);
        }
    }
}
