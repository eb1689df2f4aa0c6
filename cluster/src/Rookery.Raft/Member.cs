namespace Rookery.Raft;

/// <summary>
/// Changes this member's role (follower, candidate, leader), and passes each message to the part of the core that
/// handles it. Called by <see cref="RaftCore"/>.
/// </summary>
/// <remarks>
/// No part of the core references this type. A part that finds that the role must change reports it by its return
/// value, and this type changes the role.
/// </remarks>
internal sealed class Member
{
    private readonly Outbox _outbox;
    private readonly ProgressTracker _tracker;
    private readonly Heartbeats _heartbeats;
    private readonly Election _election;
    private readonly Follower _follower;
    private readonly StoreWatch _storeWatch;

    public Member(StartingPoint start, CoreOptions options, SafetyRules rules)
    {
        State = new MemberState(start, options, rules);
        _outbox = new Outbox(State);
        _tracker = new ProgressTracker(State, _outbox);
        Outcomes = new OutcomeComparison(State, _tracker, _outbox);
        Clocks = new VoterClocks(State, _tracker, _outbox);
        _heartbeats = new Heartbeats(State, _tracker, Outcomes, Clocks, _outbox);
        _election = new Election(State, _outbox, start);
        _follower = new Follower(State, _outbox);
        Snapshots = new SnapshotReceiver(State, _follower, _outbox);
        Reads = new ReadIndex(State, _tracker, _heartbeats, _follower, _outbox);
        Transfer = new LeadershipTransfer(State, _tracker, _outbox);
        _storeWatch = new StoreWatch(State, _tracker, Transfer, _election, _outbox);
        Replication = new Replication(State, _tracker, Reads, Transfer, _outbox);
        Changes = new MemberChanges(State, _tracker, Replication, Transfer, Outcomes);
    }

    public MemberState State { get; }

    public OutcomeComparison Outcomes { get; }

    public VoterClocks Clocks { get; }

    public SnapshotReceiver Snapshots { get; }

    public ReadIndex Reads { get; }

    public LeadershipTransfer Transfer { get; }

    public Replication Replication { get; }

    public MemberChanges Changes { get; }

    /// <summary>
    /// The member to which this leader would transfer leadership now; none when it does not lead or no member is
    /// eligible.
    /// </summary>
    public NodeId Successor => State.IsLeader ? _tracker.BestSuccessor() : NodeId.None;

    /// <summary>Begins a step.</summary>
    public void BeginStep(Output output) => _outbox.Begin(output);

    /// <summary>Starts the first election deadline, when the core first knows the time.</summary>
    public void Begin() => _election.Begin();

    /// <summary>Handles a tick.</summary>
    public void Tick()
    {
        if (State.IsLeader)
        {
            DoLeaderWork();
        }
        else if (_election.IsDue)
        {
            State.Leader = NodeId.None;
            _election.Campaign();
            LeadIfElected();
        }
        else
        {
            Reads.RepeatLateRequest();
        }
    }

    public void HandleMessage(in Message message, ReadOnlySpan<Entry> entries)
    {
        ConsensusException.Unless(message.To == State.Self, "a message arrives at its receiver");
        switch (message.Kind)
        {
            // The handlers of these three decide whether this node adopts the message's term.
            case MessageKind.PreVote:
                _election.AnswerPreVote(message);
                break;
            case MessageKind.PreVoteReply:
                HandlePreVoteReply(message);
                break;
            case MessageKind.Vote:
                HandleVoteRequest(message);
                break;
            default:
                if (message.Term < State.Term)
                {
                    RefuseOldTerm(message);
                }
                else
                {
                    EnterTermOf(message);
                    HandleInTerm(message, entries);
                }

                break;
        }
    }

    /// <summary>Handles a completed journal write.</summary>
    public void HandleJournalDurable(long write)
    {
        State.Log.Durability.RecordCompleted(write);
        _election.CountGoodSync();
        if (State.Log.Durability.VoteIsDurable)
        {
            _outbox.SendHeld();
            _election.CountOwnVote();
            LeadIfElected();
            _follower.CommitAnnounced();
        }

        HealDamage();
        _follower.Acknowledge();
        Replication.AdvanceCommit();
        Transfer.StartCampaignIfCaughtUp();
    }

    /// <summary>Handles the report that a fetched snapshot is installed.</summary>
    public void HandleSnapshotInstalled(
        LogPosition position,
        long committedBy,
        Configuration configuration,
        long configurationIndex
    )
    {
        Snapshots.HandleInstalled(position, committedBy, configuration, configurationIndex);

        // If this node becomes leader, it offers peers the state at this position. The next flush reports a newer one,
        // but an idle cluster does not flush.
        Replication.StoreDurableThrough = position;
        Outcomes.ForgetHistory();
        HealDamage();
        _follower.Acknowledge();
    }

    /// <summary>Appends the host's entry, if this node may propose.</summary>
    public void Propose(in Entry entry)
    {
        if (State.Rules.MayPropose(State.IsLeader, Transfer.IsActive) && !Outcomes.VotersDiffer)
        {
            _outbox.Output.Proposed = Replication.Append(entry);
        }
    }

    /// <summary>Handles a health measurement.</summary>
    public void HandleHealth(StoreHealth measured)
    {
        if (_storeWatch.HandleHealth(measured))
        {
            StepDown();
        }
    }

    /// <summary>Returns the replication progress of the other members; empty unless this node leads.</summary>
    public IReadOnlyList<PeerProgress> ReadPeers() => State.IsLeader ? _tracker.Read() : [];

    /// <summary>Becomes a follower in the same term, with no known leader.</summary>
    public void StepDown() => Follow(State.Term, NodeId.None);

    /// <summary>Steps down because a majority was lost or may have been, and reports that to the operator.</summary>
    public void LoseQuorum()
    {
        _outbox.Output.Report(CoreEvent.QuorumLost, State.Self);
        StepDown();
    }

    /// <summary>
    /// Checks invariants after each step, in production too. A violated invariant must stop the node before a wrong
    /// value reaches its disk or its peers.
    /// </summary>
    public void CheckRules(long termBefore)
    {
        ConsensusException.Unless(State.Term >= termBefore, "terms never fall");
        ConsensusException.Unless(State.Term >= State.Log.Entries.Last.Term, "no entry has a later term than the node");
        State.Log.CheckRules();
        if (State.IsLeader)
        {
            ConsensusException.Unless(
                State.Leader == State.Self && State.Log.Durability.VoteIsDurable,
                "a leader's own vote is durable"
            );
            _tracker.CheckRules();
        }
    }

    /// <summary>
    /// Handles the reply to a pre-vote. A refusal's higher term is adopted. Otherwise a node with a long log and an old
    /// term, and a node with a short log and a new term, would refuse each other for ever.
    /// </summary>
    private void HandlePreVoteReply(in Message message)
    {
        if (!message.Refused)
        {
            _election.CountPreVote(message);
            LeadIfElected();
        }
        else if (message.Term > State.Term)
        {
            Coverage.Count(RareBranch.AdoptedTermOfRefusal);
            Follow(message.Term, NodeId.None);
        }
    }

    private void HandleVoteRequest(in Message message)
    {
        if (_election.Ignores(message))
        {
            return;
        }

        if (message.Term > State.Term)
        {
            Follow(message.Term, NodeId.None);
        }

        _election.AnswerVote(message);
    }

    /// <summary>Tells the leader of an earlier term about the new one. Drops other messages of earlier terms.</summary>
    private void RefuseOldTerm(in Message message)
    {
        if (message.Kind is MessageKind.Append or MessageKind.Heartbeat or MessageKind.SnapshotOffer)
        {
            Coverage.Count(RareBranch.RefusedOldTerm);
            _outbox.Send(_outbox.Reply(message, MessageKind.HeartbeatReply) with { Refused = true });
        }
    }

    private void EnterTermOf(in Message message)
    {
        bool fromLeader =
            message.Kind
            is MessageKind.Append
                or MessageKind.Heartbeat
                or MessageKind.Commit
                or MessageKind.SnapshotOffer;
        if (message.Term > State.Term || (fromLeader && State.Leader.IsNone))
        {
            Follow(message.Term, fromLeader ? message.From : NodeId.None);
        }

        if (fromLeader)
        {
            ConsensusException.Unless(
                State.Role == Role.Follower && State.Leader == message.From,
                "a term has one leader"
            );
            _election.RecordLeaderContact();
        }
    }

    private void HandleInTerm(in Message message, ReadOnlySpan<Entry> entries)
    {
        switch (message.Kind)
        {
            case MessageKind.VoteReply:
                _election.HandleVoteReply(message);
                LeadIfElected();
                break;
            case MessageKind.Append:
                _follower.HandleAppend(message, entries);
                break;
            case MessageKind.AppendReply:
                Replication.HandleAppendReply(message);
                break;
            case MessageKind.Heartbeat:
                State.ElectionTimeoutMicroseconds = message.ElectionTimeoutMicroseconds;
                _follower.Commit(message.Commit);
                _heartbeats.Answer(message);
                break;
            case MessageKind.HeartbeatReply:
                HandleHeartbeatReply(message);
                break;
            case MessageKind.Commit:
                _follower.Commit(message.Commit);
                break;
            case MessageKind.Read:
                Reads.HandleFollowerRead(message);
                break;
            case MessageKind.ReadReply:
                Reads.HandleReadReply(message);
                break;
            case MessageKind.TimeoutNow:
                _election.CampaignByTransfer();
                LeadIfElected();
                break;
            case MessageKind.SnapshotOffer:
                Snapshots.HandleOffer(message);
                break;
            default:
                throw new ConsensusException("a message has a kind");
        }
    }

    private void HandleHeartbeatReply(in Message message)
    {
        if (!State.IsLeader || _tracker.RecordContact(message) is not { } peer)
        {
            return;
        }

        if (!State.Rules.IsAnswerOfTerm(message.Refused))
        {
            Coverage.Count(RareBranch.RefusedAndLeads);
            return;
        }

        _heartbeats.RecordReply(peer, message);
        peer.CountRound(State.Log.Entries.LastIndex, State.Now, State.ElectionTimeoutMicroseconds);
        Reads.FinishRound();
        Replication.Replicate(peer);
        Outcomes.HandlePeerOutcome(peer, message.Outcome);
    }

    /// <summary>
    /// Becomes a follower of <paramref name="leader"/>, or of no leader yet, in <paramref name="term"/>.
    /// </summary>
    private void Follow(long term, NodeId leader)
    {
        ConsensusException.Unless(term >= State.Term, "terms never fall");
        if (term > State.Term)
        {
            State.SetVote(term, NodeId.None);
        }

        if (State.IsLeader)
        {
            EndLeading();
        }

        (State.Role, State.Leader) = (Role.Follower, leader);
        _follower.Begin();
        _election.BeginToFollow();
        Reads.WithdrawRequest();
        Reads.AskLeader();
    }

    private void LeadIfElected()
    {
        if (!_election.IsWon)
        {
            return;
        }

        (State.Role, State.Leader) = (Role.Leader, State.Self);
        _election.ForgetVotes();
        Reads.WithdrawRequest();
        _heartbeats.Begin();
        _storeWatch.Begin();
        Clocks.BeginLeading();
        _tracker.Clear();
        _tracker.Refresh();
        _tracker.HoldBackInherited();
        Replication.AppendOwn(EntryType.NoOp, configuration: null);
        DoLeaderWork();
    }

    /// <summary>Does a leader's periodic work.</summary>
    private void DoLeaderWork()
    {
        if (!State.Rules.MayStayLeader(_tracker.HearsMajority()))
        {
            Coverage.Count(RareBranch.LostQuorum);
            LoseQuorum();
            return;
        }

        if (Transfer.AbandonIfLate())
        {
            Coverage.Count(RareBranch.SteppedDownWithoutTransfer);
            StepDown();
            return;
        }

        _storeWatch.PreferBetterBoard();
        _tracker.ForgetRemoved();
        _heartbeats.SendIfDue();
        Replication.RetryLost();
    }

    private void EndLeading()
    {
        _election.RecordLeadershipEnd();
        _tracker.Clear();
        Transfer.EndLeading();
        Outcomes.EndLeading();
        Reads.EndLeading();
    }

    private void HealDamage()
    {
        if (State.Log.TryHeal())
        {
            _outbox.Output.Report(CoreEvent.DamageHealed, State.Self);
        }
    }
}
