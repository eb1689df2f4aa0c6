namespace Rookery.Raft;

/// <summary>
/// The Raft state machine. Takes inputs; returns messages to send and journal records to write. Does no I/O, starts no
/// thread and never blocks. Sources: Ongaro and Ousterhout 2014 ("the paper"), Ongaro's thesis ("the thesis", by
/// section).
/// </summary>
/// <remarks>
/// <para>Not thread-safe.</para>
/// <para>This type only dispatches. <see cref="Member"/> changes roles and routes messages. All parts share
/// <see cref="MemberState"/> and <see cref="RaftLog"/>. Every other part implements one section of the paper.
/// docs/explanation/consensus.md has a table of the parts.</para>
/// </remarks>
public sealed class RaftCore
{
    /// <summary>
    /// The maximum number of reads that wait for a leader or for its reply. Further reads are refused
    /// (<see cref="Output.RefusedReads"/>).
    /// </summary>
    public const int MaxWaitingReads = 1024;

    private readonly Member _member;
    private readonly MemberState _state;
    private readonly RaftLog _log;
    private bool _hasTime;

    /// <summary>Makes a follower that continues with the term, vote and log of its store.</summary>
    public RaftCore(StartingPoint start, CoreOptions options)
        : this(start, options, SafetyRules.Sound) { }

    // For tests that replace one of the rules by a known bug.
    internal RaftCore(StartingPoint start, CoreOptions options, SafetyRules rules)
    {
        _member = new Member(start, options, rules);
        _state = _member.State;
        _log = _state.Log;
    }

    /// <summary>This node.</summary>
    public NodeId Self => _state.Self;

    /// <summary>This node's role.</summary>
    public Role Role => _state.Role;

    /// <summary>The current term.</summary>
    public long Term => _state.Term;

    /// <summary>The member that this node voted for in <see cref="Term"/>; none when it has not voted.</summary>
    public NodeId VotedFor => _state.VotedFor;

    /// <summary>The leader of <see cref="Term"/>; none when this node knows none.</summary>
    public NodeId Leader => _state.Leader;

    /// <summary>How often this node's store was started, including this start.</summary>
    public long StartNumber => _state.StartNumber;

    /// <summary>
    /// Whether a leadership transfer is running. Proposals are refused until it completes or is abandoned.
    /// </summary>
    public bool IsTransferring => _member.Transfer.IsActive;

    /// <summary>
    /// The member that a leadership transfer would choose now; none when this node does not lead or no member is
    /// eligible.
    /// </summary>
    public NodeId Successor => _member.Successor;

    /// <summary>The highest index that this node knows to be committed.</summary>
    public long CommitIndex => _log.CommitIndex;

    /// <summary>The highest index that may be applied: committed, and durable on this node.</summary>
    public long ApplyThrough => _log.ApplyThrough;

    /// <summary>The position of the last entry of the log, durable or not.</summary>
    public LogPosition Last => _log.Entries.Last;

    /// <summary>The highest index that is durable on this node.</summary>
    public long DurableIndex => _log.Durability.DurableIndex;

    /// <summary>The newest configuration in the log, committed or not.</summary>
    public Configuration Configuration => _log.Configuration;

    /// <summary>
    /// Whether the newest configuration in the log removed this node: the preceding configuration contains the node,
    /// and the newest one does not. A joining node that has not received the entry that adds it is in neither. False
    /// for a damaged log, which may end with an old configuration.
    /// </summary>
    public bool WasRemoved =>
        !IsDamaged && !_log.Entries.Configuration.IsMember(Self) && _log.Entries.PreviousConfiguration.IsMember(Self);

    /// <summary>The index of the entry that carries <see cref="Configuration"/>.</summary>
    public long ConfigurationIndex => _log.Entries.ConfigurationIndex;

    /// <summary>Whether the newest configuration is not committed yet.</summary>
    public bool ChangeIsPending => _log.ChangeIsPending;

    /// <summary>The election timeout, the same for all members.</summary>
    public long ElectionTimeoutMicroseconds => _state.ElectionTimeoutMicroseconds;

    /// <summary>
    /// Whether this store lost entries that it may have acknowledged, and the leader has not sent them again yet. Such
    /// a node does not campaign. It votes only for candidates whose log is at least as up to date as the lost entries.
    /// </summary>
    public bool IsDamaged => _log.IsDamaged;

    /// <summary>
    /// Whether the journal failed or this node's state differs from a majority's. The node must stop.
    /// </summary>
    public bool HasFailed { get; private set; }

    /// <summary>The leader's judgement of the voters' clocks.</summary>
    public ClockVerdict ClockVerdict => _member.Clocks.Verdict;

    /// <summary>
    /// The term of the entry at <paramref name="index"/>; 0 when the index is compacted or after the log's end.
    /// </summary>
    public long TermAt(long index) => _log.Entries.TermAt(index);

    /// <summary>Reads the cluster's time as this node estimates it.</summary>
    /// <param name="nowMicroseconds">The host's time, as inputs carry it.</param>
    public ClockReading ReadClock(long nowMicroseconds) => _member.Clocks.Read(nowMicroseconds);

    /// <summary>
    /// Returns the time for the next entry. It is always later than <paramref name="lastTicks"/>, even if clocks run
    /// back.
    /// </summary>
    /// <param name="nowMicroseconds">The host's time, as inputs carry it.</param>
    /// <param name="lastTicks">The time of the last entry that carries one, in ticks.</param>
    public LogTime TimeAfter(long nowMicroseconds, long lastTicks) =>
        _member.Clocks.TimeAfter(nowMicroseconds, lastTicks);

    /// <summary>Returns the replication progress of the other members; empty unless this node leads.</summary>
    public IReadOnlyList<PeerProgress> ReadPeers() => _member.ReadPeers();

    /// <summary>
    /// Whether a fetched snapshot may be installed now. The host calls this immediately before it installs, and takes
    /// no other step until <see cref="Input.SnapshotInstalled"/>. If the answer is false because a journal write is in
    /// flight, the host tries again later. If this node has applied entries after the snapshot, or if
    /// <paramref name="committedBy"/> is later than this node's term, the host reports
    /// <see cref="Input.SnapshotFailed"/> instead.
    /// </summary>
    /// <param name="position">The last entry that the snapshot contains.</param>
    /// <param name="committedBy">The sender's term when it sent the snapshot. The snapshot's entries were committed in
    /// that term or earlier.</param>
    public bool MayInstall(LogPosition position, long committedBy) =>
        _member.Snapshots.MayInstall(position, committedBy);

    /// <summary>
    /// Whether a fetched snapshot may replace damaged tables, to which entries can no longer be applied. This is
    /// allowed even if this node has committed entries after the snapshot: they stay in the log and are applied
    /// afterwards. True when the snapshot's last entry is durable in this log: by log matching (paper 5.3) the snapshot
    /// then contains the same entries as this log through that index. The host checks that the snapshot is not older
    /// than its applied index, and proceeds as for <see cref="MayInstall"/>. Unlike <see cref="MayInstall"/>, this
    /// permits a journal write in flight, but requires that the vote record of the current term is durable.
    /// </summary>
    /// <param name="position">The last entry that the snapshot contains.</param>
    /// <param name="committedBy">The same as in <see cref="MayInstall"/>.</param>
    public bool MayReplaceTables(LogPosition position, long committedBy) =>
        _member.Snapshots.MayReplaceTables(position, committedBy);

    /// <summary>
    /// Whether the journal keeps its entries after a snapshot at <paramref name="position"/>: true when the entry there
    /// is durable in the log. Otherwise the journal is emptied and starts after the snapshot.
    /// </summary>
    public bool KeepsTailAfter(LogPosition position) => _log.KeepsTailAfter(position);

    /// <summary>Processes one input.</summary>
    /// <param name="input">The input.</param>
    /// <param name="output">Receives what the host must do; cleared first.</param>
    /// <exception cref="ConsensusException">A safety rule is violated, here or by a peer. The node must
    /// stop.</exception>
    public void Step(in Input input, Output output)
    {
        _member.BeginStep(output);
        if (HasFailed)
        {
            return;
        }

        var before = (Role, Term, Leader);
        AdvanceTime(input.NowMicroseconds);
        Dispatch(input, output);
        if (_member.Outcomes.HasDiverged)
        {
            StepDownAndFail();
        }

        _member.CheckRules(before.Term);
        if (HasFailed)
        {
            output.Write = null;
        }
        else
        {
            long committed = _state.Rules.CommitIndexToRecord(CommitIndex, Last.Index);
            output.Write = _log.Durability.TakeNextWrite(new VoteRecord(Term, VotedFor), Last.Index, committed);
        }

        output.LeadershipChanged = before != (Role, Term, Leader);
    }

    private void Dispatch(in Input input, Output output)
    {
        switch (input.Kind)
        {
            case InputKind.Tick:
                _member.Tick();
                break;
            case InputKind.Message:
                _member.HandleMessage(input.Message, input.Entries.Span);
                break;
            case InputKind.JournalDurable:
                _member.HandleJournalDurable(input.Number);
                break;
            case InputKind.JournalFailed:
                StepDownAndFail();
                break;
            case InputKind.Applied:
                _member.Outcomes.RecordApplied(input.Outcome);
                break;
            case InputKind.Released:
                ConsensusException.Unless(input.Number <= ApplyThrough, "only applied entries are released");
                _log.Entries.ReleaseThrough(input.Number);
                break;
            case InputKind.Unreadable:
                _member.Replication.HandleUnreadable(input.Node, input.Number);
                break;
            case InputKind.ManifestDurable:
                _member.Replication.StoreDurableThrough = input.Position;
                break;
            case InputKind.SnapshotInstalled:
                _member.HandleSnapshotInstalled(
                    input.Position,
                    input.CommittedBy,
                    input.Configuration!,
                    configurationIndex: input.Number
                );
                break;
            case InputKind.SnapshotFailed:
                _member.Snapshots.HandleFailure();
                break;
            case InputKind.Propose:
                _member.Propose(input.Entry);
                break;
            case InputKind.Read:
                _member.Reads.HandleHostRead(input.Number);
                break;
            case InputKind.ChangeMember:
                output.ChangeAnswer = _member.Changes.Change(input.Change, input.Node);
                break;
            case InputKind.Transfer:
                _member.Transfer.TransferTo(input.Node);
                break;
            case InputKind.PeerUnreachable:
                _member.Replication.HandleUnreachable(input.Node);
                break;
            case InputKind.Health:
                _member.HandleHealth(input.Health);
                break;
            case InputKind.Clock:
                _member.Clocks.RecordOwn(input.Clock);
                break;
            case InputKind.LogTime:
                _member.Clocks.RecordLogTime(input.Number);
                break;
            case InputKind.ConfirmClock:
                output.ClockAnswer = _member.Clocks.Confirm();
                break;
            default:
                throw new ConsensusException("an input has a kind");
        }
    }

    /// <summary>
    /// Advances the core's time. A jump by more than the election timeout (a paused process, a suspended machine)
    /// counts as lost contact, so a leader steps down.
    /// </summary>
    private void AdvanceTime(long time)
    {
        ConsensusException.Unless(!_hasTime || time >= _state.Now, "the clock never runs back");
        bool jumped = _hasTime && time - _state.Now > ElectionTimeoutMicroseconds;
        _state.Now = time;
        if (!_hasTime)
        {
            _hasTime = true;
            _member.Begin();
        }
        else if (jumped && Role == Role.Leader && Configuration.Majority > 1)
        {
            Coverage.Count(RareBranch.JumpOfClock);
            _member.LoseQuorum();
        }
    }

    private void StepDownAndFail()
    {
        _member.StepDown();
        HasFailed = true;
    }
}
