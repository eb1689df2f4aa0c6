namespace Rookery.Raft;

/// <summary>The kind of a message. Names follow the Raft paper and Ongaro's thesis.</summary>
public enum MessageKind
{
    /// <summary>Asks whether the receiver would vote for the sender. Changes no state (thesis 9.6).</summary>
    PreVote,

    /// <summary>
    /// Answers <see cref="PreVote"/>. A refusal carries the receiver's term, which the sender adopts if it is higher.
    /// </summary>
    PreVoteReply,

    /// <summary>Requests a vote in the message's term (RequestVote).</summary>
    Vote,

    /// <summary>Answers <see cref="Vote"/> once the vote is durable.</summary>
    VoteReply,

    /// <summary>
    /// Carries the entries after a position (AppendEntries). The host adds their payloads when it sends the message.
    /// </summary>
    Append,

    /// <summary>
    /// Answers <see cref="Append"/>: acknowledges once the entries are durable, or refuses at once with a hint.
    /// </summary>
    AppendReply,

    /// <summary>
    /// Keeps followers from campaigning, and carries the commit index and the number of the read round. Sent on the
    /// control connection, so entries do not delay it.
    /// </summary>
    Heartbeat,

    /// <summary>Answers <see cref="Heartbeat"/> at once.</summary>
    HeartbeatReply,

    /// <summary>Announces a new commit index to a follower to which no entries are in flight. Has no answer.</summary>
    Commit,

    /// <summary>A follower's request for a read index (thesis 6.4).</summary>
    Read,

    /// <summary>Answers <see cref="Read"/> after a confirmed round.</summary>
    ReadReply,

    /// <summary>Tells the receiver to campaign at once, for a leadership transfer (thesis 3.10).</summary>
    TimeoutNow,

    /// <summary>
    /// Offers the state at a position, because the entries that the receiver misses are compacted (InstallSnapshot).
    /// </summary>
    SnapshotOffer,
}

/// <summary>A message between two members. <see cref="Kind"/> determines which fields are used.</summary>
public readonly record struct Message
{
    /// <summary>The kind of the message.</summary>
    public required MessageKind Kind { get; init; }

    /// <summary>The sender.</summary>
    public required NodeId From { get; init; }

    /// <summary>The receiver.</summary>
    public required NodeId To { get; init; }

    /// <summary>The sender's term; in a pre-vote and its grant, the term of the intended election.</summary>
    public required long Term { get; init; }

    /// <summary>
    /// How often the sender's store was started. Replies of an earlier start are ignored. If such replies repeat, a
    /// copy of the disk is running.
    /// </summary>
    public required long StartNumber { get; init; }

    /// <summary>
    /// Votes: the end of the candidate's log. Append: the position before the entries. AppendReply: the last verified
    /// and durable position, or the refused one. SnapshotOffer: the last entry that the snapshot contains.
    /// </summary>
    public LogPosition Position { get; init; }

    /// <summary>
    /// Append: the index of the last entry; that of <see cref="Position"/> when there are none. ReadReply: the read
    /// index.
    /// </summary>
    public long LastIndex { get; init; }

    /// <summary>
    /// Append, Heartbeat, Commit, ReadReply: the index through which the receiver may commit verified entries.
    /// </summary>
    public long Commit { get; init; }

    /// <summary>
    /// Heartbeat and its reply: the number of the leader's read round. Read and its reply: the sender's request number.
    /// </summary>
    public long Sequence { get; init; }

    /// <summary>Replies: the request was not granted.</summary>
    public bool Refused { get; init; }

    /// <summary>A refusing AppendReply: the position from which the leader continues its search.</summary>
    public LogPosition Hint { get; init; }

    /// <summary>Vote: the election is part of a leadership transfer, so stickiness does not apply.</summary>
    public bool IsTransfer { get; init; }

    /// <summary>Heartbeat: the current election timeout of all members, in microseconds.</summary>
    public long ElectionTimeoutMicroseconds { get; init; }

    /// <summary>
    /// Heartbeat and its reply: when the leader sent the heartbeat, in microseconds of its monotonic time. 0 when the
    /// reply waited for a disk, so its delay does not measure the network.
    /// </summary>
    public long SentAtMicroseconds { get; init; }

    /// <summary>HeartbeatReply: the health of the sender's store.</summary>
    public StoreHealth Health { get; init; }

    /// <summary>
    /// Heartbeat: the outcome hash of a majority of the voters. HeartbeatReply: the sender's outcome hash at the
    /// heartbeat's <see cref="OutcomeIndex"/>.
    /// </summary>
    public OutcomeHash Outcome { get; init; }

    /// <summary>Heartbeat: the cluster's time as the leader knows it. HeartbeatReply: the sender's own clock.</summary>
    public ClockReading Clock { get; init; }

    /// <summary>Heartbeat: the index at which the leader compares the members' outcome hashes; 0 for none.</summary>
    public long OutcomeIndex { get; init; }
}

/// <summary>The health of a member's store and board, as its host measured it.</summary>
/// <param name="SyncMicroseconds">The 99th percentile of the duration of recent journal writes.</param>
/// <param name="StallMicroseconds">How long the outstanding journal write has made no progress; 0 when none is
/// outstanding.</param>
/// <param name="BoardPenalty">0 for a cool, well-powered board. Leadership moves to voters with lower values. The
/// maximum is <see cref="CannotApply"/>.</param>
/// <param name="SpareBytes">The free bytes beyond the node's reserve; negative when it refuses writes that grow the
/// data. The core only passes this on.</param>
public readonly record struct StoreHealth(
    long SyncMicroseconds,
    long StallMicroseconds,
    int BoardPenalty,
    long SpareBytes = 0
)
{
    /// <summary>
    /// The penalty of a node that cannot apply entries to its tables. Such a leader could not answer writes, so it
    /// transfers leadership at once to any voter with a lower penalty.
    /// </summary>
    public const int CannotApply = int.MaxValue;
}
