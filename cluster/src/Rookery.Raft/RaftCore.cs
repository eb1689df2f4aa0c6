namespace Rookery.Raft;

/// <summary>
/// Raft as a state machine: inputs and a clock's readings in, messages and journal writes out. It does no input or
/// output, starts no thread and waits for nothing. Sources: Ongaro and Ousterhout 2014 ("the paper"), Ongaro's thesis
/// ("the thesis", by section).
/// </summary>
/// <remarks>
/// <para>Not safe for several threads at once.</para>
/// <para>The door to the types that do it. <see cref="Member"/> changes roles and hands messages on;
/// <see cref="MemberState"/> and <see cref="RaftLog"/> are what all parts read; each other part owns its fields and its
/// share of the paper. docs/explanation/consensus.md has a table of them.</para>
/// </remarks>
public sealed class RaftCore
{
    /// <summary>
    /// So many reads wait at most, for a leader or for its word: hosts give up on reads, and ask again, for as long as
    /// there is none.
    /// </summary>
    public const int MostWaitingReads = 1024;

    private readonly Member _member;
    private readonly MemberState _state;
    private readonly RaftLog _log;
    private bool _hasTime;

    /// <summary>A core that goes on where its store left off, as a follower.</summary>
    public RaftCore(StartingPoint start, CoreOptions options)
        : this(start, options, SafetyRules.Sound) { }

    internal RaftCore(StartingPoint start, CoreOptions options, SafetyRules rules)
    {
        _member = new Member(start, options, rules);
        _state = _member.State;
        _log = _state.Log;
    }

    /// <summary>This node.</summary>
    public NodeId Self => _state.Self;

    /// <summary>What it is now.</summary>
    public Role Role => _state.Role;

    /// <summary>The current term.</summary>
    public long Term => _state.Term;

    /// <summary>Who has this node's vote in <see cref="Term"/>.</summary>
    public NodeId VotedFor => _state.VotedFor;

    /// <summary>Who leads in <see cref="Term"/>, if that is known.</summary>
    public NodeId Leader => _state.Leader;

    /// <summary>How often this node's store was started.</summary>
    public long Incarnation => _state.Incarnation;

    /// <summary>Whether it is handing leadership over: proposals are refused until that is done or given up.</summary>
    public bool IsTransferring => _member.Transfer.IsActive;

    /// <summary>
    /// Who would lead if this node, which leads, went now; none when it does not lead, or nobody could.
    /// </summary>
    public NodeId Successor => _member.Successor;

    /// <summary>Entries through here are committed, as far as this node knows.</summary>
    public long CommitIndex => _log.CommitIndex;

    /// <summary>Entries through here may be applied: committed, and durable here.</summary>
    public long ApplyThrough => _log.ApplyThrough;

    /// <summary>The end of the log, durable or not.</summary>
    public LogPosition Last => _log.Entries.Last;

    /// <summary>Entries through here are durable here.</summary>
    public long DurableIndex => _log.Durability.DurableIndex;

    /// <summary>Who belongs to the cluster.</summary>
    public Configuration Configuration => _log.Configuration;

    /// <summary>
    /// Whether the newest configuration took this node out, as far as the log reaches back. A configuration without it
    /// tells nothing alone: it is in none before the log has brought the entry that let it in, nor in those that a
    /// damaged log ends with.
    /// </summary>
    public bool WasRemoved =>
        !IsDamaged && !_log.Entries.Configuration.IsMember(Self) && _log.Entries.PreviousConfiguration.IsMember(Self);

    /// <summary>The index of the entry that <see cref="Configuration"/> came with.</summary>
    public long ConfigurationIndex => _log.Entries.ConfigurationIndex;

    /// <summary>Whether the last change of members is not committed yet.</summary>
    public bool ChangeIsPending => _log.ChangeIsPending;

    /// <summary>The election timeout in force, one for the whole cluster.</summary>
    public long ElectionTimeoutMicroseconds => _state.ElectionTimeoutMicroseconds;

    /// <summary>
    /// Whether this store lost entries that it may have acknowledged, and the leader has not replaced them yet: it
    /// neither campaigns nor votes for older logs.
    /// </summary>
    public bool IsDamaged => _log.IsDamaged;

    /// <summary>Whether the journal failed, or the state differs from that of a majority: the node must stop.</summary>
    public bool HasFailed { get; private set; }

    /// <summary>What this node makes of the voters' clocks while it leads.</summary>
    public ClockVerdict ClockVerdict => _member.Clocks.Verdict;

    /// <summary>The term of the entry at <paramref name="index"/>; 0 when the log does not have it singly.</summary>
    public long TermAt(long index) => _log.Entries.TermAt(index);

    /// <summary>The cluster's time, as far as this node knows it.</summary>
    /// <param name="nowMicroseconds">The time that inputs carry.</param>
    public ClockReading ReadClock(long nowMicroseconds) => _member.Clocks.Read(nowMicroseconds);

    /// <summary>
    /// The time of an entry that follows one of <paramref name="lastTicks"/>: it never falls, whatever clocks do.
    /// </summary>
    /// <param name="nowMicroseconds">The time that inputs carry.</param>
    /// <param name="lastTicks">The time of the last entry that has one.</param>
    public LogTime TimeAfter(long nowMicroseconds, long lastTicks) =>
        _member.Clocks.TimeAfter(nowMicroseconds, lastTicks);

    /// <summary>The other members, as this node sees them while it leads; none while it does not.</summary>
    public IReadOnlyList<PeerProgress> ReadPeers() => _member.ReadPeers();

    /// <summary>
    /// Whether a fetched manifest may be put in place now: the host asks just before it does, takes no other step until
    /// <see cref="Input.ManifestInstalled"/>, and answers <see cref="Input.ManifestFailed"/> when entries have
    /// overtaken the manifest meanwhile, or it is of a later term than this node has heard of; while the journal
    /// writes, it asks again later.
    /// </summary>
    /// <param name="position">What it ends with.</param>
    /// <param name="committedBy">The term that its giver was in when it gave it: what it holds was committed by
    /// then.</param>
    public bool MayInstall(LogPosition position, long committedBy) =>
        _member.Snapshots.MayInstall(position, committedBy);

    /// <summary>
    /// Whether a fetched manifest may take the place of tables that cannot be applied to any more, whatever is
    /// committed here: when its entry is in the log, durably, so that the log stays as it is. Then it holds what this
    /// log does through there (paper 5.3, log matching). The host sees that it is not behind what it has applied, and
    /// does as for <see cref="MayInstall"/>, but need not wait for the journal to rest: only, as with whatever is
    /// committed here, until the term is on the disk.
    /// </summary>
    /// <param name="position">What it ends with.</param>
    /// <param name="committedBy">As for <see cref="MayInstall"/>.</param>
    public bool MayReplaceTables(LogPosition position, long committedBy) =>
        _member.Snapshots.MayReplaceTables(position, committedBy);

    /// <summary>
    /// Whether a manifest at <paramref name="position"/> leaves the journal as it is: its entry is in the log, durably.
    /// Else the journal begins anew behind it.
    /// </summary>
    public bool KeepsTailBehind(LogPosition position) => _log.KeepsTailBehind(position);

    /// <summary>Takes one event in.</summary>
    /// <param name="input">What happened.</param>
    /// <param name="into">What to do about it; cleared first.</param>
    /// <exception cref="ConsensusException">A rule was found broken, here or at a peer. The node must stop.</exception>
    public void Step(in Input input, Output into)
    {
        _member.BeginStep(into);
        if (HasFailed)
        {
            return;
        }

        var before = (Role, Term, Leader);
        PassTime(input.NowMicroseconds);
        Take(input, into);
        if (_member.Outcomes.HasDiverged)
        {
            Fail();
        }

        _member.CheckRules(before.Term);
        into.Write = HasFailed
            ? null
            : _log.Durability.Next(
                new VoteRecord(Term, VotedFor),
                Last.Index,
                _state.Rules.MayBeNoted(CommitIndex, Last.Index)
            );
        into.RoleChanged = before != (Role, Term, Leader);
    }

    private void Take(in Input input, Output into)
    {
        switch (input.Kind)
        {
            case InputKind.Tick:
                _member.Tick();
                break;
            case InputKind.Message:
                _member.Take(input.Message, input.Entries.Span);
                break;
            case InputKind.JournalDurable:
                _member.JournalDurable(input.Number);
                break;
            case InputKind.JournalFailed:
                Fail();
                break;
            case InputKind.Applied:
                _member.Outcomes.Applied(input.Outcome);
                break;
            case InputKind.Released:
                ConsensusException.Unless(input.Number <= ApplyThrough, "only what is applied is given back");
                _log.Entries.ReleaseThrough(input.Number);
                break;
            case InputKind.Unreadable:
                _member.Replication.Unreadable(input.Node, input.Number);
                break;
            case InputKind.ManifestDurable:
                _member.Replication.Manifest = input.Position;
                break;
            case InputKind.ManifestInstalled:
                _member.ManifestInstalled(
                    input.Position,
                    input.CommittedBy,
                    input.Configuration!,
                    configurationIndex: input.Number
                );
                break;
            case InputKind.ManifestFailed:
                _member.Snapshots.Failed();
                break;
            case InputKind.Propose:
                _member.Propose(input.Entry);
                break;
            case InputKind.Read:
                _member.Reads.Take(input.Number);
                break;
            case InputKind.ChangeMember:
                into.ChangeAnswer = _member.Changes.Take(input.Change, input.Node);
                break;
            case InputKind.Transfer:
                _member.Transfer.To(input.Node);
                break;
            case InputKind.PeerUnreachable:
                _member.Replication.Unreachable(input.Node);
                break;
            case InputKind.Health:
                _member.TakeHealth(input.Health);
                break;
            case InputKind.Clock:
                _member.Clocks.TakeOwn(input.Clock);
                break;
            case InputKind.LogTime:
                _member.Clocks.TakeLogTime(input.Number);
                break;
            case InputKind.ConfirmClock:
                into.ClockAnswer = _member.Clocks.Confirm();
                break;
            default:
                throw new ConsensusException("an input has a kind");
        }
    }

    /// <summary>
    /// A jump past the election timeout (a pause, a suspended machine) is lost contact: a leader must not go on as if
    /// nothing had been.
    /// </summary>
    private void PassTime(long time)
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
            Coverage.Took(RareBranch.JumpOfClock);
            _member.LoseQuorum();
        }
    }

    private void Fail()
    {
        _member.StepDown();
        HasFailed = true;
    }
}
