namespace Rookery.Raft;

/// <summary>The content of a vote record in the journal. Terms never fall, and a node votes once in each.</summary>
/// <param name="Term">The current term.</param>
/// <param name="VotedFor">The member that this node voted for in the term; none when it has not voted.</param>
public readonly record struct VoteRecord(long Term, NodeId VotedFor);

/// <summary>
/// One journal write, whose records become durable together, in this order. At most one is outstanding.
/// </summary>
/// <param name="Number">The write's number since the core started, from 1. <see cref="Input.JournalDurable"/> refers to
/// it.</param>
/// <param name="Vote">The vote record to write; null when it has not changed.</param>
/// <param name="TruncateAfter">The index after which the journal is truncated; -1 for no truncation.</param>
/// <param name="FirstIndex">The first entry to write.</param>
/// <param name="LastIndex">The last entry to write; less than <paramref name="FirstIndex"/> when there are
/// none.</param>
/// <param name="Committed">The commit index. The host may record it for the next start
/// (<see cref="StartingPoint.CommitIndex"/>). At most <paramref name="LastIndex"/>.</param>
public readonly record struct JournalWrite(
    long Number,
    VoteRecord? Vote,
    long TruncateAfter,
    long FirstIndex,
    long LastIndex,
    long Committed
);

/// <summary>A read that may be served once entries through <paramref name="Index"/> are applied.</summary>
/// <param name="Number">The number in <see cref="Input.Read"/>.</param>
/// <param name="Index">The read index.</param>
public readonly record struct ReadReady(long Number, long Index);

/// <summary>The answer to <see cref="Input.ChangeMember"/>.</summary>
public enum ChangeAnswer
{
    /// <summary>The step's input was not <see cref="Input.ChangeMember"/>.</summary>
    None,

    /// <summary>The change is appended: in force, and complete once committed.</summary>
    Accepted,

    /// <summary>The member has that role already.</summary>
    NothingToDo,

    /// <summary>This node is not the leader.</summary>
    NotLeader,

    /// <summary>
    /// The preceding change is not committed yet, or no entry of this term is (Ongaro's correction of 2015), or a
    /// leadership transfer is running.
    /// </summary>
    ChangePending,

    /// <summary>The learner has not caught up in three rounds in a row.</summary>
    NotCaughtUp,

    /// <summary>A majority of the new configuration's voters was not heard within an election timeout.</summary>
    NoMajority,

    /// <summary>The change would end the leader's own vote or membership. Transfer leadership first.</summary>
    LeaderItself,

    /// <summary>The new configuration would have more than <see cref="Configuration.MaxVoters"/> voters.</summary>
    TooManyVoters,

    /// <summary>No member has that id.</summary>
    NoSuchMember,
}

/// <summary>Rare events to report to the operator.</summary>
public enum CoreEvent
{
    /// <summary>A peer has fewer entries than it acknowledged: its disk lost them.</summary>
    PeerLostEntries,

    /// <summary>The leader's own store stalled; the leader transfers leadership or steps down.</summary>
    LeaderStoreStalled,

    /// <summary>The leader did not hear from a majority and stepped down.</summary>
    QuorumLost,

    /// <summary>
    /// A message of an earlier start of the sender's store arrived. A single such message was merely delayed; repeated
    /// ones come from an old disk or a copy.
    /// </summary>
    OldStart,

    /// <summary>The entries that this store had acknowledged and lost were replaced by the leader's.</summary>
    DamageHealed,

    /// <summary>
    /// Voters applied the same entries with different results, and no majority of them agrees. Until a majority agrees,
    /// no entry is proposed.
    /// </summary>
    OutcomesDiffer,

    /// <summary>
    /// The voters' clocks agree on a time more than ten minutes from the cluster's, and no majority of them is
    /// synchronised. Until a majority is synchronised or an operator confirms, nothing expires and no idempotency key
    /// ages.
    /// </summary>
    ClockDoubted,

    /// <summary>The cluster's time is no longer in doubt.</summary>
    ClockTrusted,

    /// <summary>
    /// This node's state differs from a majority's: it has halted, and must get its data from the other members.
    /// </summary>
    Diverged,
}

/// <summary>
/// The output of a step: what the host must do. One object is reused and holds only the last step's output.
/// </summary>
public sealed class Output
{
    private readonly List<Message> _messages = [];
    private readonly List<ReadReady> _reads = [];
    private readonly List<long> _refusedReads = [];
    private readonly List<Entry> _made = [];
    private readonly List<(CoreEvent Event, NodeId Node)> _events = [];

    /// <summary>
    /// Messages to send now, in this order. For <see cref="MessageKind.Append"/> the host adds the entries' payloads.
    /// It drops the message if those entries were replaced meanwhile.
    /// </summary>
    public IReadOnlyList<Message> Messages => _messages;

    /// <summary>Reads that may be served once their index is applied.</summary>
    public IReadOnlyList<ReadReady> Reads => _reads;

    /// <summary>Reads that were refused, because <see cref="RaftCore.MaxWaitingReads"/> are waiting already.</summary>
    public IReadOnlyList<long> RefusedReads => _refusedReads;

    /// <summary>Events to report to the operator.</summary>
    public IReadOnlyList<(CoreEvent Event, NodeId Node)> Events => _events;

    /// <summary>The journal write to begin; null for none.</summary>
    public JournalWrite? Write { get; internal set; }

    /// <summary>
    /// The position of the proposed entry; null when it was refused, because this node does not lead, is transferring
    /// leadership, or members' outcomes differ.
    /// </summary>
    public LogPosition? Proposed { get; internal set; }

    /// <summary>The answer to <see cref="Input.ChangeMember"/>.</summary>
    public ChangeAnswer ChangeAnswer { get; internal set; }

    /// <summary>The answer to <see cref="Input.ConfirmClock"/>.</summary>
    public ClockAnswer ClockAnswer { get; internal set; }

    /// <summary>
    /// Entries that the core appended itself: a new leader's no-op or a configuration. The host encodes their payloads.
    /// </summary>
    public IReadOnlyList<Entry> Made => _made;

    /// <summary>A snapshot to fetch from a leader; null for none.</summary>
    public (NodeId From, LogPosition Position)? Fetch { get; internal set; }

    /// <summary>
    /// The index after which entries were removed or replaced, so the host must drop its copies; -1 for none.
    /// </summary>
    public long DroppedAfter { get; internal set; } = -1;

    /// <summary>Whether role, term or leader changed in the step.</summary>
    public bool LeadershipChanged { get; internal set; }

    internal void Send(in Message message) => _messages.Add(message);

    internal void Make(in Entry entry) => _made.Add(entry);

    internal void Serve(long number, long index) => _reads.Add(new ReadReady(number, index));

    internal void RefuseRead(long number) => _refusedReads.Add(number);

    internal void Report(CoreEvent coreEvent, NodeId node) => _events.Add((coreEvent, node));

    internal void Clear()
    {
        _messages.Clear();
        _reads.Clear();
        _refusedReads.Clear();
        _made.Clear();
        _events.Clear();
        Write = null;
        Proposed = null;
        ChangeAnswer = ChangeAnswer.None;
        ClockAnswer = ClockAnswer.None;
        Fetch = null;
        DroppedAfter = -1;
        LeadershipChanged = false;
    }
}
