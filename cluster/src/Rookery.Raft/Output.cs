namespace Rookery.Raft;

/// <summary>What a vote record in the journal says. Terms never fall, and one vote is given in each.</summary>
/// <param name="Term">The current term.</param>
/// <param name="VotedFor">Who has this node's vote in it.</param>
public readonly record struct VoteRecord(long Term, NodeId VotedFor);

/// <summary>
/// One journal write: everything in it becomes durable together, in this order. At most one is outstanding.
/// </summary>
/// <param name="Number">Its number since the core was started, from 1; names it in
/// <see cref="Input.JournalDurable"/>.</param>
/// <param name="Vote">The vote record to write, if it changed.</param>
/// <param name="TruncateAfter">Truncates the log after this index; -1 truncates nothing.</param>
/// <param name="FirstIndex">The first entry to write.</param>
/// <param name="LastIndex">The last entry to write; below <paramref name="FirstIndex"/> when there are none.</param>
/// <param name="Committed">The log is committed through this index: may be noted, so that the next start knows it
/// (<see cref="StartingPoint.CommitIndex"/>). At most <paramref name="LastIndex"/>.</param>
public readonly record struct JournalWrite(
    long Number,
    VoteRecord? Vote,
    long TruncateAfter,
    long FirstIndex,
    long LastIndex,
    long Committed
);

/// <summary>A read may be served once the state was applied through <paramref name="Index"/>.</summary>
/// <param name="Number">The number that <see cref="Input.Read"/> gave.</param>
/// <param name="Index">How far must have been applied.</param>
public readonly record struct ReadReady(long Number, long Index);

/// <summary>What became of <see cref="Input.ChangeMember"/>.</summary>
public enum ChangeAnswer
{
    /// <summary>Nothing was asked.</summary>
    None,

    /// <summary>Appended; in force already, done when committed.</summary>
    Accepted,

    /// <summary>It has that part already.</summary>
    NothingToDo,

    /// <summary>Ask the leader.</summary>
    NotLeader,

    /// <summary>
    /// The change before it is not committed yet, or no entry of this term is (Ongaro's correction of 2015).
    /// </summary>
    ChangePending,

    /// <summary>Only a learner that caught up in three rounds becomes a voter.</summary>
    NotCaughtUp,

    /// <summary>A majority of the voters that there would be was not heard from within an election timeout.</summary>
    NoMajority,

    /// <summary>A leader does not take its own vote away: transfer first.</summary>
    LeaderItself,

    /// <summary>There would be more than <see cref="Configuration.MostVoters"/>.</summary>
    TooManyVoters,

    /// <summary>Nobody here has that id.</summary>
    NoSuchMember,
}

/// <summary>Rare things that an owner should hear of.</summary>
public enum CoreEvent
{
    /// <summary>A peer has fewer entries than it once said were durable: its card lost them.</summary>
    PeerLostEntries,

    /// <summary>The leader's own store stalled; it hands over or steps down.</summary>
    LeaderStoreStalled,

    /// <summary>A majority was not heard from; the leader stepped down.</summary>
    QuorumLost,

    /// <summary>
    /// A message of an earlier start of its store came: a late one, or, when it happens again and again, an old card or
    /// a copy is running.
    /// </summary>
    OldIncarnation,

    /// <summary>What this store had acknowledged and lost was replaced by the leader's entries.</summary>
    DamageHealed,

    /// <summary>
    /// Voters applied the same entries with other results, and no majority of them agrees yet: until one does, nothing
    /// is proposed.
    /// </summary>
    OutcomesDiffer,

    /// <summary>
    /// The voters' clocks agree on a time that is more than ten minutes from the cluster's, and no majority of them is
    /// synchronised: nothing expires and no key ages until one is, or an operator confirms.
    /// </summary>
    ClockDoubted,

    /// <summary>The cluster's time is known again.</summary>
    ClockTrusted,

    /// <summary>
    /// This node's state differs from that of a majority: it has halted, and must be filled anew from the others.
    /// </summary>
    Diverged,
}

/// <summary>
/// What a step asks of the host. One object is used again and again: it holds what the last step said, and nothing
/// else.
/// </summary>
public sealed class Output
{
    private readonly List<Message> _messages = [];
    private readonly List<ReadReady> _reads = [];
    private readonly List<long> _refusedReads = [];
    private readonly List<Entry> _made = [];
    private readonly List<(CoreEvent What, NodeId Node)> _events = [];

    /// <summary>
    /// Messages to send now, in this order. For <see cref="MessageKind.Append"/> the host adds the entries; if its
    /// journal has others at their place by then, it drops the message.
    /// </summary>
    public IReadOnlyList<Message> Messages => _messages;

    /// <summary>Reads that may be served.</summary>
    public IReadOnlyList<ReadReady> Reads => _reads;

    /// <summary>Reads that are not taken, because <see cref="RaftCore.MostWaitingReads"/> wait already.</summary>
    public IReadOnlyList<long> RefusedReads => _refusedReads;

    /// <summary>What an owner should hear of.</summary>
    public IReadOnlyList<(CoreEvent What, NodeId Node)> Events => _events;

    /// <summary>The journal write to begin; null for none.</summary>
    public JournalWrite? Write { get; internal set; }

    /// <summary>
    /// Where the proposed entry went; null when it was refused, because this node does not lead, is handing over, or
    /// members differ in what they applied.
    /// </summary>
    public LogPosition? Proposed { get; internal set; }

    /// <summary>The answer to <see cref="Input.ChangeMember"/>.</summary>
    public ChangeAnswer ChangeAnswer { get; internal set; }

    /// <summary>The answer to <see cref="Input.ConfirmClock"/>.</summary>
    public ClockAnswer ClockAnswer { get; internal set; }

    /// <summary>
    /// Entries that the core made itself, a new leader's no-op or a configuration, whose payloads the host makes.
    /// </summary>
    public IReadOnlyList<Entry> Made => _made;

    /// <summary>A manifest to fetch from a leader; null for none.</summary>
    public (NodeId From, LogPosition Position)? Fetch { get; internal set; }

    /// <summary>
    /// Entries behind this index were replaced or dropped; what the host holds of them is void. -1 for none.
    /// </summary>
    public long DroppedAfter { get; internal set; } = -1;

    /// <summary>Whether role, term or leader changed in the step.</summary>
    public bool RoleChanged { get; internal set; }

    internal void Send(in Message message) => _messages.Add(message);

    internal void Make(in Entry entry) => _made.Add(entry);

    internal void Serve(long number, long index) => _reads.Add(new ReadReady(number, index));

    internal void RefuseRead(long number) => _refusedReads.Add(number);

    internal void Tell(CoreEvent what, NodeId node) => _events.Add((what, node));

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
        RoleChanged = false;
    }
}
