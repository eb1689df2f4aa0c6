namespace Rookery.Raft;

/// <summary>What a message asks or answers. Names follow the Raft paper and Ongaro's thesis.</summary>
public enum MessageKind
{
    /// <summary>Would you vote for me? Changes nothing at either end (thesis 9.6).</summary>
    PreVote,

    /// <summary>Answers <see cref="PreVote"/>. A refusal carries the higher term, which the asker adopts.</summary>
    PreVoteReply,

    /// <summary>Vote for me in this term (RequestVote).</summary>
    Vote,

    /// <summary>Answers <see cref="Vote"/>, after the vote is durable.</summary>
    VoteReply,

    /// <summary>Entries behind a position (AppendEntries). The host adds the entries when it sends.</summary>
    Append,

    /// <summary>Answers <see cref="Append"/> after its entries are durable; or refuses with a hint, at once.</summary>
    AppendReply,

    /// <summary>
    /// A leader lives; carries its commit index and the number of the reads' round. On a connection of its own, never
    /// behind entries.
    /// </summary>
    Heartbeat,

    /// <summary>Answers <see cref="Heartbeat"/> at once.</summary>
    HeartbeatReply,

    /// <summary>Tells a follower of a new commit index when no entries are on the way to it. Has no answer.</summary>
    Commit,

    /// <summary>A follower asks how far it must have applied to serve reads (thesis 6.4).</summary>
    Read,

    /// <summary>Answers <see cref="Read"/> after a round.</summary>
    ReadReply,

    /// <summary>Campaign now: the leader hands over (thesis 3.10).</summary>
    TimeoutNow,

    /// <summary>The entries that you miss are gone; fetch the state at this position (InstallSnapshot).</summary>
    SnapshotOffer,
}

/// <summary>One message between two members. Which fields mean something depends on <see cref="Kind"/>.</summary>
public readonly record struct Message
{
    /// <summary>What it is.</summary>
    public required MessageKind Kind { get; init; }

    /// <summary>Who sent it.</summary>
    public required NodeId From { get; init; }

    /// <summary>Whom it is for.</summary>
    public required NodeId To { get; init; }

    /// <summary>The sender's term; in a pre-vote and its grant, the term that would be campaigned for.</summary>
    public required long Term { get; init; }

    /// <summary>
    /// How often the sender's store was started. Answers of an earlier start are old news, and tell of a copied card.
    /// </summary>
    public required long Incarnation { get; init; }

    /// <summary>
    /// Votes: the end of the candidate's log. Append: the position before the entries. AppendReply: index verified and
    /// durable, or the refused one. SnapshotOffer: what the manifest holds.
    /// </summary>
    public LogPosition Position { get; init; }

    /// <summary>
    /// Append: the index of the last entry; that of <see cref="Position"/> when there are none. ReadReply: how far must
    /// have been applied.
    /// </summary>
    public long LastIndex { get; init; }

    /// <summary>Append, Heartbeat, Commit, ReadReply: how far the receiver may commit, of what it verified.</summary>
    public long Commit { get; init; }

    /// <summary>Heartbeat and its reply: the leader's round of reads. Read and its reply: the asker's number.</summary>
    public long Sequence { get; init; }

    /// <summary>Replies: not granted, or not as asked.</summary>
    public bool Refused { get; init; }

    /// <summary>AppendReply that refuses: where the leader should look next.</summary>
    public LogPosition Hint { get; init; }

    /// <summary>Vote: the leader asked for it, so that nobody needs to wait for its silence.</summary>
    public bool IsTransfer { get; init; }

    /// <summary>Heartbeat: the election timeout in force for all, in microseconds.</summary>
    public long ElectionTimeoutMicroseconds { get; init; }

    /// <summary>
    /// Heartbeat and its reply: when the leader sent it, by its own clock, in microseconds; 0 when the answer waited
    /// for a disk, and tells nothing of the network.
    /// </summary>
    public long SentAtMicroseconds { get; init; }

    /// <summary>HeartbeatReply: how the sender's store does.</summary>
    public StoreHealth Health { get; init; }

    /// <summary>
    /// Heartbeat: what a majority of the voters came to by applying. HeartbeatReply: what the sender came to, at
    /// <see cref="OutcomeIndex"/> of the heartbeat.
    /// </summary>
    public OutcomeHash Outcome { get; init; }

    /// <summary>Heartbeat: the cluster's time as the leader knows it. HeartbeatReply: the sender's own clock.</summary>
    public ClockReading Clock { get; init; }

    /// <summary>
    /// Heartbeat: the index at which the leader wants to know what members came to by applying; 0 for none.
    /// </summary>
    public long OutcomeIndex { get; init; }
}

/// <summary>How a member's store and board do, as its host measured them.</summary>
/// <param name="SyncMicroseconds">The 99th percentile of recent syncs of the journal.</param>
/// <param name="StallMicroseconds">For how long the outstanding journal write has shown no sign of life; 0 when none is
/// outstanding.</param>
/// <param name="BoardPenalty">0 for a cool, well-powered board; above it the worse for a leader, up to
/// <see cref="CannotApply"/>.</param>
/// <param name="SpareBytes">Bytes free beyond what the node keeps in reserve; below 0 it takes nothing that grows. The
/// core passes it on, and decides nothing by it.</param>
public readonly record struct StoreHealth(
    long SyncMicroseconds,
    long StallMicroseconds,
    int BoardPenalty,
    long SpareBytes = 0
)
{
    /// <summary>
    /// The penalty of a store whose tables cannot be applied to, so that nobody would be answered: whoever leads hands
    /// over at once, to any that does better.
    /// </summary>
    public const int CannotApply = int.MaxValue;
}
