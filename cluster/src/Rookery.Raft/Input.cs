namespace Rookery.Raft;

/// <summary>The kind of an <see cref="Input"/>.</summary>
public enum InputKind
{
    /// <summary>Time passed.</summary>
    Tick,

    /// <summary>A message arrived.</summary>
    Message,

    /// <summary>A journal write is durable.</summary>
    JournalDurable,

    /// <summary>The journal failed, so nothing more is acknowledged.</summary>
    JournalFailed,

    /// <summary>An entry was applied.</summary>
    Applied,

    /// <summary>The journal released entries.</summary>
    Released,

    /// <summary>The journal cannot read entries for a peer.</summary>
    Unreadable,

    /// <summary>The local store is durable through a position.</summary>
    ManifestDurable,

    /// <summary>A fetched snapshot is installed, and the journal matches it.</summary>
    SnapshotInstalled,

    /// <summary>Fetching or installing a snapshot failed; the leader may offer it again.</summary>
    SnapshotFailed,

    /// <summary>The host wants to append an entry.</summary>
    Propose,

    /// <summary>The host asks for a read index: the read must see every write acknowledged before it.</summary>
    Read,

    /// <summary>The host asks to change a member's role.</summary>
    ChangeMember,

    /// <summary>The host asks to transfer leadership.</summary>
    Transfer,

    /// <summary>The connection to a peer broke, and messages in flight are lost.</summary>
    PeerUnreachable,

    /// <summary>The host measured this node's store and board.</summary>
    Health,

    /// <summary>The host read this node's clock.</summary>
    Clock,

    /// <summary>The leader knows the last log time.</summary>
    LogTime,

    /// <summary>An operator confirms the voters' clocks.</summary>
    ConfirmClock,
}

/// <summary>The new role of a member.</summary>
public enum MemberChange
{
    /// <summary>Receives everything, and does not count for majorities.</summary>
    Learner,

    /// <summary>Counts for majorities.</summary>
    Voter,

    /// <summary>Is not a member any more.</summary>
    Removed,
}

/// <summary>
/// An input to <see cref="RaftCore.Step"/>. An immutable value, so that tests can record and replay inputs.
/// </summary>
/// <remarks>Each method's parameter <c>now</c> is the time of the input, <see cref="NowMicroseconds"/>.</remarks>
public readonly record struct Input
{
    /// <summary>The kind of the input.</summary>
    public InputKind Kind { get; private init; }

    /// <summary>The time of the input, on a monotonic clock, in microseconds.</summary>
    public long NowMicroseconds { get; private init; }

    internal Message Message { get; private init; }

    internal ReadOnlyMemory<Entry> Entries { get; private init; }

    internal long Number { get; private init; }

    internal LogPosition Position { get; private init; }

    internal Entry Entry { get; private init; }

    internal Configuration? Configuration { get; private init; }

    internal long CommittedBy { get; private init; }

    internal NodeId Node { get; private init; }

    internal MemberChange Change { get; private init; }

    internal StoreHealth Health { get; private init; }

    internal OutcomeHash Outcome { get; private init; }

    internal ClockReading Clock { get; private init; }

    /// <summary>Makes a tick. The host sends at least ten during the shortest election timeout.</summary>
    public static Input Tick(long now) => new() { Kind = InputKind.Tick, NowMicroseconds = now };

    /// <summary>Makes the input of a received message.</summary>
    /// <param name="now">The time, in microseconds.</param>
    /// <param name="message">The message.</param>
    /// <param name="entries">For <see cref="MessageKind.Append"/>: all entries after the message's position, through
    /// its last index. The host keeps their payloads until they are durable or the core dropped them.</param>
    public static Input Received(long now, in Message message, ReadOnlyMemory<Entry> entries = default) =>
        new()
        {
            Kind = InputKind.Message,
            NowMicroseconds = now,
            Message = message,
            Entries = entries,
        };

    /// <summary>Reports that a journal write, and all before it, is durable.</summary>
    public static Input JournalDurable(long now, long write) =>
        new()
        {
            Kind = InputKind.JournalDurable,
            NowMicroseconds = now,
            Number = write,
        };

    /// <summary>Reports that a journal write or sync failed.</summary>
    public static Input JournalFailed(long now) => new() { Kind = InputKind.JournalFailed, NowMicroseconds = now };

    /// <summary>
    /// Reports that an entry was applied, with the outcome hash through that entry. The host sends one for each entry,
    /// so that members can be compared at any index.
    /// </summary>
    public static Input Applied(long now, OutcomeHash outcome) =>
        new()
        {
            Kind = InputKind.Applied,
            NowMicroseconds = now,
            Outcome = outcome,
        };

    /// <summary>
    /// Reports that the journal can no longer read entries at or below <paramref name="index"/>.
    /// </summary>
    public static Input Released(long now, long index) =>
        new()
        {
            Kind = InputKind.Released,
            NowMicroseconds = now,
            Number = index,
        };

    /// <summary>
    /// Reports that the journal cannot read the damaged entries from <paramref name="index"/> on, which were to
    /// be sent to <paramref name="node"/>.
    /// </summary>
    public static Input Unreadable(long now, NodeId node, long index) =>
        new()
        {
            Kind = InputKind.Unreadable,
            NowMicroseconds = now,
            Node = node,
            Number = index,
        };

    /// <summary>Reports that the local store is durable through a position.</summary>
    public static Input ManifestDurable(long now, LogPosition position) =>
        new()
        {
            Kind = InputKind.ManifestDurable,
            NowMicroseconds = now,
            Position = position,
        };

    /// <summary>
    /// Reports that a fetched snapshot is installed, as <see cref="RaftCore.MayInstall"/> permitted: the store
    /// durably contains everything through <paramref name="position"/>, and the journal starts after it or keeps a
    /// matching tail.
    /// </summary>
    /// <param name="now">The time, in microseconds.</param>
    /// <param name="position">The last entry that the snapshot contains.</param>
    /// <param name="committedBy">The sender's term when it sent the snapshot; see <see cref="RaftCore.MayInstall"/>.
    /// </param>
    /// <param name="configuration">The configuration in force at <paramref name="position"/>.</param>
    /// <param name="configurationIndex">The index of that configuration's entry.</param>
    public static Input SnapshotInstalled(
        long now,
        LogPosition position,
        long committedBy,
        Configuration configuration,
        long configurationIndex
    ) =>
        new()
        {
            Kind = InputKind.SnapshotInstalled,
            NowMicroseconds = now,
            Position = position,
            CommittedBy = committedBy,
            Configuration = configuration,
            Number = configurationIndex,
        };

    /// <summary>Reports that the offered snapshot could not be fetched or installed.</summary>
    public static Input SnapshotFailed(long now) => new() { Kind = InputKind.SnapshotFailed, NowMicroseconds = now };

    /// <summary>
    /// Makes the proposal of a batch of <paramref name="bytes"/> bytes, answered by <see cref="Output.Proposed"/>.
    /// </summary>
    public static Input Propose(long now, int bytes) =>
        new()
        {
            Kind = InputKind.Propose,
            NowMicroseconds = now,
            Entry = new Entry(Index: 0, Term: 0, EntryType.Batch, bytes),
        };

    /// <summary>
    /// Makes a read request, answered by an <see cref="Output.Reads"/> with the same number, possibly many steps later,
    /// or never while there is no leader. A host may make one request for all its waiting reads, which then count as
    /// one of <see cref="RaftCore.MaxWaitingReads"/>.
    /// </summary>
    public static Input Read(long now, long number) =>
        new()
        {
            Kind = InputKind.Read,
            NowMicroseconds = now,
            Number = number,
        };

    /// <summary>Makes the request to change a member's role, answered by <see cref="Output.ChangeAnswer"/>.</summary>
    public static Input ChangeMember(long now, MemberChange change, NodeId node) =>
        new()
        {
            Kind = InputKind.ChangeMember,
            NowMicroseconds = now,
            Change = change,
            Node = node,
        };

    /// <summary>
    /// Makes the request to transfer leadership to <paramref name="node"/>, or to the best caught-up voter for
    /// <see cref="NodeId.None"/>. Ignored by a node that does not lead.
    /// </summary>
    public static Input Transfer(long now, NodeId node) =>
        new()
        {
            Kind = InputKind.Transfer,
            NowMicroseconds = now,
            Node = node,
        };

    /// <summary>Reports that the connection to a peer broke.</summary>
    public static Input PeerUnreachable(long now, NodeId node) =>
        new()
        {
            Kind = InputKind.PeerUnreachable,
            NowMicroseconds = now,
            Node = node,
        };

    /// <summary>
    /// Makes the input of a health measurement. The host sends one about once a second, and when a write stalls.
    /// </summary>
    public static Input Measured(long now, StoreHealth health) =>
        new()
        {
            Kind = InputKind.Health,
            NowMicroseconds = now,
            Health = health,
        };

    /// <summary>
    /// Makes the input of a clock reading. The host sends one about once a second, because the clock may be set at any
    /// time.
    /// </summary>
    /// <param name="now">The monotonic time, in microseconds.</param>
    /// <param name="reading">The reading, and whether the clock is synchronised.</param>
    public static Input ReadClock(long now, ClockReading reading) =>
        new()
        {
            Kind = InputKind.Clock,
            NowMicroseconds = now,
            Clock = reading,
        };

    /// <summary>
    /// Reports the last log time, <paramref name="ticks"/> (0 for none). The host of a new leader sends this once the
    /// first entry of its term is applied, before it proposes an entry in that term.
    /// </summary>
    public static Input LogTime(long now, long ticks) =>
        new()
        {
            Kind = InputKind.LogTime,
            NowMicroseconds = now,
            Number = ticks,
        };

    /// <summary>
    /// Makes the request of an operator to accept the voters' clocks, however far they jumped. Answered by
    /// <see cref="Output.ClockAnswer"/>.
    /// </summary>
    public static Input ConfirmClock(long now) => new() { Kind = InputKind.ConfirmClock, NowMicroseconds = now };
}
