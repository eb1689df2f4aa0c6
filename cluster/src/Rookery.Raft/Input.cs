namespace Rookery.Raft;

/// <summary>What can happen to a core.</summary>
public enum InputKind
{
    /// <summary>Time went on.</summary>
    Tick,

    /// <summary>A message came in.</summary>
    Message,

    /// <summary>The journal write of this number, and all before it, is durable.</summary>
    JournalDurable,

    /// <summary>The journal failed: nothing more is acknowledged from here.</summary>
    JournalFailed,

    /// <summary>An entry was applied.</summary>
    Applied,

    /// <summary>The journal gave entries back.</summary>
    Released,

    /// <summary>The journal cannot read back what a peer misses.</summary>
    Unreadable,

    /// <summary>The local manifest holds everything through a position, durably.</summary>
    ManifestDurable,

    /// <summary>A manifest fetched from the leader is in place, journal base included.</summary>
    ManifestInstalled,

    /// <summary>Fetching a manifest failed; the leader may offer again.</summary>
    ManifestFailed,

    /// <summary>The host wants an entry appended.</summary>
    Propose,

    /// <summary>A read wants to see every write acknowledged before it.</summary>
    Read,

    /// <summary>Somebody shall get another part in the cluster.</summary>
    ChangeMember,

    /// <summary>Leadership shall go elsewhere.</summary>
    Transfer,

    /// <summary>A peer's connection broke: what was on the way to it is lost.</summary>
    PeerUnreachable,

    /// <summary>How the own store and board do.</summary>
    Health,

    /// <summary>The own wall clock was read.</summary>
    Clock,

    /// <summary>The log's last time is known to the leader.</summary>
    LogTime,

    /// <summary>An operator says that the voters' clocks are right.</summary>
    ConfirmClock,
}

/// <summary>What shall become of a member.</summary>
public enum MemberChange
{
    /// <summary>It receives, and is not counted. For a voter: it is counted no more.</summary>
    Learner,

    /// <summary>It is counted.</summary>
    Voter,

    /// <summary>It has no part any more.</summary>
    Removed,
}

/// <summary>One event for a core. Values only, so that a run can be recorded and replayed.</summary>
public readonly record struct Input
{
    /// <summary>What happened.</summary>
    public InputKind Kind { get; private init; }

    /// <summary>When, on a clock that never runs back, in microseconds.</summary>
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

    /// <summary>Time went on. To be given at least ten times in the shortest election timeout.</summary>
    public static Input Tick(long now) => new() { Kind = InputKind.Tick, NowMicroseconds = now };

    /// <summary>A message came in.</summary>
    /// <param name="now">When, in microseconds.</param>
    /// <param name="message">The message.</param>
    /// <param name="entries">For <see cref="MessageKind.Append"/>, all entries behind its position through its last
    /// index. The host keeps their payloads until the core wrote or dropped them.</param>
    public static Input Received(long now, in Message message, ReadOnlyMemory<Entry> entries = default) =>
        new()
        {
            Kind = InputKind.Message,
            NowMicroseconds = now,
            Message = message,
            Entries = entries,
        };

    /// <summary>The journal write of this number is durable, and all before it.</summary>
    public static Input JournalDurable(long now, long write) =>
        new()
        {
            Kind = InputKind.JournalDurable,
            NowMicroseconds = now,
            Number = write,
        };

    /// <summary>A journal write or sync failed.</summary>
    public static Input JournalFailed(long now) => new() { Kind = InputKind.JournalFailed, NowMicroseconds = now };

    /// <summary>
    /// An entry was applied, and this is what has come of all through it; to be given for each, so that members can be
    /// compared at any.
    /// </summary>
    public static Input Applied(long now, OutcomeHash outcome) =>
        new()
        {
            Kind = InputKind.Applied,
            NowMicroseconds = now,
            Outcome = outcome,
        };

    /// <summary>The journal can no longer read entries at or below <paramref name="index"/>.</summary>
    public static Input Released(long now, long index) =>
        new()
        {
            Kind = InputKind.Released,
            NowMicroseconds = now,
            Number = index,
        };

    /// <summary>
    /// The journal cannot read entries from <paramref name="index"/> on, which were to be sent to
    /// <paramref name="node"/>: they are damaged.
    /// </summary>
    public static Input Unreadable(long now, NodeId node, long index) =>
        new()
        {
            Kind = InputKind.Unreadable,
            NowMicroseconds = now,
            Node = node,
            Number = index,
        };

    /// <summary>The local manifest durably holds everything through <paramref name="position"/>.</summary>
    public static Input ManifestDurable(long now, LogPosition position) =>
        new()
        {
            Kind = InputKind.ManifestDurable,
            NowMicroseconds = now,
            Position = position,
        };

    /// <summary>
    /// A fetched manifest is in place, as <see cref="RaftCore.MayInstall"/> allowed: the store durably holds everything
    /// through <paramref name="position"/>, the journal begins behind it or keeps a matching tail.
    /// </summary>
    public static Input ManifestInstalled(
        long now,
        LogPosition position,
        long committedBy,
        Configuration configuration,
        long configurationIndex
    ) =>
        new()
        {
            Kind = InputKind.ManifestInstalled,
            NowMicroseconds = now,
            Position = position,
            CommittedBy = committedBy,
            Configuration = configuration,
            Number = configurationIndex,
        };

    /// <summary>Fetching the offered manifest failed.</summary>
    public static Input ManifestFailed(long now) => new() { Kind = InputKind.ManifestFailed, NowMicroseconds = now };

    /// <summary>Append a batch of so many bytes. The answer is <see cref="Output.Proposed"/>.</summary>
    public static Input Propose(long now, int bytes) =>
        new()
        {
            Kind = InputKind.Propose,
            NowMicroseconds = now,
            Entry = new Entry(0, 0, EntryType.Batch, bytes),
        };

    /// <summary>
    /// A read; answered by an <see cref="Output.Reads"/> with the same number, perhaps many steps later, or never while
    /// there is no leader. One number may stand for all reads that wait at a host, so that without a leader there is
    /// one.
    /// </summary>
    public static Input Read(long now, long number) =>
        new()
        {
            Kind = InputKind.Read,
            NowMicroseconds = now,
            Number = number,
        };

    /// <summary>Give <paramref name="node"/> another part. The answer is <see cref="Output.ChangeAnswer"/>.</summary>
    public static Input ChangeMember(long now, MemberChange change, NodeId node) =>
        new()
        {
            Kind = InputKind.ChangeMember,
            NowMicroseconds = now,
            Change = change,
            Node = node,
        };

    /// <summary>
    /// Hand leadership to <paramref name="node"/>; to the best caught-up voter for <see cref="NodeId.None"/>. Nothing
    /// happens on a node that does not lead.
    /// </summary>
    public static Input Transfer(long now, NodeId node) =>
        new()
        {
            Kind = InputKind.Transfer,
            NowMicroseconds = now,
            Node = node,
        };

    /// <summary>The connection to a peer broke.</summary>
    public static Input PeerUnreachable(long now, NodeId node) =>
        new()
        {
            Kind = InputKind.PeerUnreachable,
            NowMicroseconds = now,
            Node = node,
        };

    /// <summary>How the own store and board do; to be given about once a second, and when a write stalls.</summary>
    public static Input Measured(long now, StoreHealth health) =>
        new()
        {
            Kind = InputKind.Health,
            NowMicroseconds = now,
            Health = health,
        };

    /// <summary>
    /// The own wall clock was read; to be given about once a second, because it may be set at any time.
    /// </summary>
    /// <param name="now">When, in microseconds.</param>
    /// <param name="reading">What it showed, and whether it is synchronised.</param>
    public static Input ReadClock(long now, ClockReading reading) =>
        new()
        {
            Kind = InputKind.Clock,
            NowMicroseconds = now,
            Clock = reading,
        };

    /// <summary>
    /// The first entry of the own term, and so all before it, was applied, and the last of them that has a time has
    /// <paramref name="ticks"/>; 0 when none has one. To be given before anything is proposed in the term.
    /// </summary>
    public static Input LogTime(long now, long ticks) =>
        new()
        {
            Kind = InputKind.LogTime,
            NowMicroseconds = now,
            Number = ticks,
        };

    /// <summary>
    /// An operator says that the clocks of the voters, which agree, are right, however far they jumped. The answer is
    /// <see cref="Output.ClockAnswer"/>.
    /// </summary>
    public static Input ConfirmClock(long now) => new() { Kind = InputKind.ConfirmClock, NowMicroseconds = now };
}
