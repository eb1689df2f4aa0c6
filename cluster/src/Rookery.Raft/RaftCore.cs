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

/// <summary>
/// Raft as a state machine: inputs and a clock's readings in, messages and journal writes out. It does no input or
/// output, starts no thread and waits for nothing. Sources: Ongaro and Ousterhout 2014 ("the paper"), Ongaro's thesis
/// ("the thesis", by section).
/// </summary>
/// <remarks>Not safe for several threads at once.</remarks>
public sealed partial class RaftCore
{
    private readonly CoreOptions _options;
    private readonly SafetyRules _rules;
    private readonly Random _random;
    private readonly EntryLog _log;
    private readonly Durability _durability;
    private readonly long _incarnation;
    private Output _output = new();
    private LogPosition _votedBy;
    private StoreHealth _health;
    private long _now;
    private long _appliedThrough;
    private bool _hasTime;

    /// <summary>A core that goes on where its store left off, as a follower.</summary>
    public RaftCore(StartingPoint start, CoreOptions options)
        : this(start, options, SafetyRules.Sound) { }

    internal RaftCore(StartingPoint start, CoreOptions options, SafetyRules rules)
    {
        ConsensusException.Unless(!start.Self.IsNone, "a node has an id");
        ConsensusException.Unless(
            start.CommitIndex >= start.Log.Base.Index && start.CommitIndex <= start.Log.LastIndex,
            "what the manifest holds is in the log, or before it"
        );
        ConsensusException.Unless(start.Vote.Term >= start.Log.Last.Term, "the vote record is as new as the log");
        _options = options;
        _rules = rules;
        _random = new Random(start.Seed);
        (Self, _incarnation, _log) = (start.Self, start.Incarnation, start.Log);
        (Term, VotedFor, CommitIndex) = (start.Vote.Term, start.Vote.VotedFor, start.CommitIndex);
        _durability = new Durability(_log.LastIndex, rules);
        _clusterClock = new ClusterClock(rules);
        _votedBy = start.VotedBy > _log.Last ? start.VotedBy : default;
        ElectionTimeoutMicroseconds = options.FirstElectionTimeoutMicroseconds;
        _wasUnclean = start.WasUnclean;

        // An answer to a question of an earlier start must not answer one of this: a read would see the past.
        _readRequest = start.Incarnation << 32;
        _appliedThrough = CommitIndex;
    }

    /// <summary>This node.</summary>
    public NodeId Self { get; }

    /// <summary>What it is now.</summary>
    public Role Role { get; private set; }

    /// <summary>The current term.</summary>
    public long Term { get; private set; }

    /// <summary>Who has this node's vote in <see cref="Term"/>.</summary>
    public NodeId VotedFor { get; private set; }

    /// <summary>Who leads in <see cref="Term"/>, if that is known.</summary>
    public NodeId Leader { get; private set; }

    /// <summary>How often this node's store was started.</summary>
    public long Incarnation => _incarnation;

    /// <summary>Whether it is handing leadership over: proposals are refused until that is done or given up.</summary>
    public bool IsTransferring => !_transferTo.IsNone;

    /// <summary>Entries through here are committed, as far as this node knows.</summary>
    public long CommitIndex { get; private set; }

    /// <summary>Entries through here may be applied: committed, and durable here.</summary>
    public long ApplyThrough => Math.Min(CommitIndex, _durability.DurableIndex);

    /// <summary>The end of the log, durable or not.</summary>
    public LogPosition Last => _log.Last;

    /// <summary>Entries through here are durable here.</summary>
    public long DurableIndex => _durability.DurableIndex;

    /// <summary>Who belongs to the cluster.</summary>
    public Configuration Configuration => _rules.InForce(_log);

    /// <summary>
    /// Whether the newest configuration took this node out, as far as the log reaches back. A configuration without it
    /// tells nothing alone: it is in none before the log has brought the entry that let it in, nor in those that a
    /// damaged log ends with.
    /// </summary>
    public bool WasRemoved =>
        !IsDamaged && !_log.Configuration.IsMember(Self) && _log.PreviousConfiguration.IsMember(Self);

    /// <summary>The index of the entry that <see cref="Configuration"/> came with.</summary>
    public long ConfigurationIndex => _log.ConfigurationIndex;

    /// <summary>Whether the last change of members is not committed yet.</summary>
    public bool ChangeIsPending => _log.ConfigurationIndex > CommitIndex;

    /// <summary>The election timeout in force, one for the whole cluster.</summary>
    public long ElectionTimeoutMicroseconds { get; private set; }

    /// <summary>
    /// Whether this store lost entries that it may have acknowledged, and the leader has not replaced them yet: it
    /// neither campaigns nor votes for older logs.
    /// </summary>
    public bool IsDamaged => _votedBy != default;

    /// <summary>Whether the journal failed, or the state differs from that of a majority: the node must stop.</summary>
    public bool HasFailed { get; private set; }

    /// <summary>The term of the entry at <paramref name="index"/>; 0 when the log does not have it singly.</summary>
    public long TermAt(long index) => _log.TermAt(index);

    /// <summary>Takes one event in.</summary>
    /// <param name="input">What happened.</param>
    /// <param name="into">What to do about it; cleared first.</param>
    /// <exception cref="ConsensusException">A rule was found broken, here or at a peer. The node must stop.</exception>
    public void Step(in Input input, Output into)
    {
        _output = into;
        _output.Clear();
        if (HasFailed)
        {
            return;
        }

        var before = (Role, Term, Leader);
        PassTime(input.NowMicroseconds);
        Take(input);
        CheckRules(before.Term);
        _output.Write = HasFailed
            ? null
            : _durability.Next(
                new VoteRecord(Term, VotedFor),
                _log.LastIndex,
                _rules.MayBeNoted(CommitIndex, _log.LastIndex)
            );
        _output.RoleChanged = before != (Role, Term, Leader);
    }

    private void Take(in Input input)
    {
        switch (input.Kind)
        {
            case InputKind.Tick:
                OnTick();
                break;
            case InputKind.Message:
                OnMessage(input.Message, input.Entries.Span);
                break;
            case InputKind.JournalDurable:
                OnJournalDurable(input.Number);
                break;
            case InputKind.JournalFailed:
                BecomeFollower(Term, NodeId.None);
                HasFailed = true;
                break;
            case InputKind.Applied:
                OnApplied(input.Outcome);
                break;
            case InputKind.Released:
                ConsensusException.Unless(input.Number <= ApplyThrough, "only what is applied is given back");
                _log.ReleaseThrough(input.Number);
                break;
            case InputKind.Unreadable:
                OnUnreadable(input.Node, input.Number);
                break;
            case InputKind.ManifestDurable:
                _manifest = input.Position;
                break;
            case InputKind.ManifestInstalled:
                OnManifestInstalled(input.Position, input.CommittedBy, input.Configuration!, input.Number);
                break;
            case InputKind.ManifestFailed:
                Coverage.Took(RareBranch.FetchedForNothing);
                _fetching = default;
                break;
            case InputKind.Propose:
                OnPropose(input.Entry);
                break;
            case InputKind.Read:
                OnRead(input.Number);
                break;
            case InputKind.ChangeMember:
                _output.ChangeAnswer = OnChangeMember(input.Change, input.Node);
                break;
            case InputKind.Transfer:
                OnTransfer(input.Node);
                break;
            case InputKind.PeerUnreachable:
                OnPeerUnreachable(input.Node);
                break;
            case InputKind.Health:
                OnHealth(input.Health);
                break;
            case InputKind.Clock:
                OnClock(input.Clock);
                break;
            case InputKind.LogTime:
                OnLogTime(input.Number);
                break;
            case InputKind.ConfirmClock:
                _output.ClockAnswer = OnConfirmClock();
                break;
            default:
                throw new ConsensusException("an input has a kind");
        }
    }

    private void OnMessage(in Message message, ReadOnlySpan<Entry> entries)
    {
        ConsensusException.Unless(message.To == Self, "a message comes to whom it is for");
        switch (message.Kind)
        {
            case MessageKind.PreVote:
                OnPreVote(message);
                return;
            case MessageKind.PreVoteReply:
                OnPreVoteReply(message);
                return;
            case MessageKind.Vote:
                OnVote(message);
                return;
            default:
                break;
        }

        if (message.Term < Term)
        {
            RefuseOldTerm(message);
            return;
        }

        bool fromLeader =
            message.Kind
            is MessageKind.Append
                or MessageKind.Heartbeat
                or MessageKind.Commit
                or MessageKind.SnapshotOffer;
        if (message.Term > Term || (fromLeader && Leader.IsNone))
        {
            BecomeFollower(message.Term, fromLeader ? message.From : NodeId.None);
        }

        if (fromLeader)
        {
            ConsensusException.Unless(Role == Role.Follower && Leader == message.From, "a term has one leader");
            HearLeader();
        }

        switch (message.Kind)
        {
            case MessageKind.VoteReply:
                OnVoteReply(message);
                break;
            case MessageKind.Append:
                OnAppend(message, entries);
                break;
            case MessageKind.AppendReply:
                OnAppendReply(message);
                break;
            case MessageKind.Heartbeat:
                OnHeartbeat(message);
                break;
            case MessageKind.HeartbeatReply:
                OnHeartbeatReply(message);
                break;
            case MessageKind.Commit:
                CommitAsFollower(message.Commit);
                break;
            case MessageKind.Read:
                OnRemoteRead(message);
                break;
            case MessageKind.ReadReply:
                OnReadReply(message);
                break;
            case MessageKind.TimeoutNow:
                OnTimeoutNow();
                break;
            case MessageKind.SnapshotOffer:
                OnSnapshotOffer(message);
                break;
            default:
                throw new ConsensusException("a message has a kind");
        }
    }

    /// <summary>A leader of an old term learns of the new one; other old messages are dropped.</summary>
    private void RefuseOldTerm(in Message message)
    {
        if (message.Kind is MessageKind.Append or MessageKind.Heartbeat or MessageKind.SnapshotOffer)
        {
            Coverage.Took(RareBranch.RefusedOldTerm);
            Send(Reply(message, MessageKind.HeartbeatReply) with { Refused = true });
        }
    }

    /// <summary>
    /// A jump past the election timeout (a pause, a suspended machine) is lost contact: a leader must not go on as if
    /// nothing had been.
    /// </summary>
    private void PassTime(long time)
    {
        ConsensusException.Unless(!_hasTime || time >= _now, "the clock never runs back");
        bool jumped = _hasTime && time - _now > ElectionTimeoutMicroseconds;
        _now = time;
        if (!_hasTime)
        {
            _hasTime = true;
            Begin();
        }
        else if (jumped && Role == Role.Leader && Configuration.Majority > 1)
        {
            Coverage.Took(RareBranch.JumpOfClock);
            StepDown(CoreEvent.QuorumLost);
        }
    }

    private void OnJournalDurable(long write)
    {
        _durability.Completed(write);
        CountGoodSync();
        if (_durability.VoteIsDurable)
        {
            SendHeld();
            CountOwnVote();
            CommitAsFollower(_toldCommit);
        }

        HealDamage();
        AcknowledgeAsFollower();
        AdvanceCommit();
        FinishTransfer();
    }

    private Message Make(MessageKind kind, NodeId to) =>
        new()
        {
            Kind = kind,
            From = Self,
            To = to,
            Term = Term,
            Incarnation = _incarnation,
        };

    private Message Reply(in Message to, MessageKind kind) =>
        Make(kind, to.From) with
        {
            Sequence = to.Sequence,
            SentAtMicroseconds = to.SentAtMicroseconds,
        };

    /// <summary>Follows <paramref name="leader"/> in <paramref name="term"/>, or nobody yet.</summary>
    private void BecomeFollower(long term, NodeId leader)
    {
        ConsensusException.Unless(term >= Term, "terms never fall");
        if (term > Term)
        {
            (Term, VotedFor) = (term, NodeId.None);
            _durability.VoteChanged();
        }

        LeaveLeadership();
        (Role, Leader) = (Role.Follower, leader);
        if (term != _verifiedTerm)
        {
            // A term has one leader: who finds it again after a while of silence has what it verified. It would not be
            // told again of what was committed meanwhile, when nothing is written.
            (_verifiedTerm, _verified, _toldCommit) = (term, 0, 0);
        }

        (_acknowledged, _isAskedToAcknowledge) = (0, false);
        _votes.Clear();
        DrawElectionDeadline();
        WithdrawQuestion();
        AskForReads();
    }

    /// <summary>
    /// What this store had acknowledged and lost is made good when the log is as new again as it was.
    /// </summary>
    private void HealDamage()
    {
        var durable = new LogPosition(_log.TermAt(_durability.DurableIndex), _durability.DurableIndex);
        if (IsDamaged && durable >= _votedBy)
        {
            Coverage.Took(RareBranch.DamageHealed);
            _votedBy = default;
            _output.Tell(CoreEvent.DamageHealed, Self);
        }
    }

    /// <summary>
    /// Checked after each step, in the program too: a wrong value must stop the node before its disk or its peers
    /// believe it.
    /// </summary>
    private void CheckRules(long termBefore)
    {
        ConsensusException.Unless(Term >= termBefore, "terms never fall");
        ConsensusException.Unless(Term >= _log.Last.Term, "no entry is of a later term than the node");
        ConsensusException.Unless(CommitIndex <= _log.LastIndex, "what is committed is in the log");
        ConsensusException.Unless(
            _durability.DurableIndex <= _durability.WrittenIndex && _durability.WrittenIndex <= _log.LastIndex,
            "what is durable was written, and what was written is in the log"
        );
        ConsensusException.Unless(ApplyThrough >= _appliedThrough, "what was applied stays committed and durable");
        _appliedThrough = ApplyThrough;
        if (Role == Role.Leader)
        {
            ConsensusException.Unless(Leader == Self && _durability.VoteIsDurable, "a leader's own vote is durable");
            foreach (var peer in _peers)
            {
                ConsensusException.Unless(
                    peer.Match < peer.Next && peer.Match <= _log.LastIndex,
                    "a peer has what was sent to it"
                );
            }
        }
    }
}
