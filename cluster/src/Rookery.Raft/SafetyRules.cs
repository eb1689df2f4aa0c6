namespace Rookery.Raft;

/// <summary>
/// The decisions on which safety and progress depend, each in a method of its own. Tests override one method with a
/// known bug and check that the simulator finds it. The product uses only <see cref="Sound"/>.
/// </summary>
internal class SafetyRules
{
    public static SafetyRules Sound { get; } = new();

    /// <summary>Returns the index through which the leader counts itself: its durable index (thesis 10.2.1).</summary>
    public virtual long OwnMatch(long durableIndex, long lastIndex) => durableIndex;

    /// <summary>
    /// Whether a leader may commit an entry because a majority has it: only an entry of its own term (thesis 3.6.2,
    /// figure 3.7).
    /// </summary>
    public virtual bool MayCommitByCounting(long entryTerm, long currentTerm) => entryTerm == currentTerm;

    /// <summary>Whether a message may be sent before the vote record of its term is durable.</summary>
    public virtual bool MaySendBeforeVoteIsDurable(MessageKind kind) => kind is MessageKind.PreVote;

    /// <summary>
    /// Whether a candidate may count its own vote: once the vote record is durable. Otherwise it could restart and vote
    /// for another candidate in the same term.
    /// </summary>
    public virtual bool HasOwnVote(bool voteIsDurable) => voteIsDurable;

    /// <summary>
    /// Returns the index that a follower acknowledges: verified by the current leader's messages, and durable. The end
    /// of its log may be neither.
    /// </summary>
    public virtual long Acknowledged(long verified, long durableIndex, long lastIndex) =>
        Math.Min(verified, durableIndex);

    /// <summary>Returns a follower's commit index: only entries that it verified against the leader's log.</summary>
    public virtual long FollowerCommit(long leaderCommit, long verified) => Math.Min(leaderCommit, verified);

    /// <summary>
    /// Returns the commit index to record in a journal write. The next start trusts it without asking a leader, so only
    /// an index known to be committed may be recorded.
    /// </summary>
    public virtual long CommitIndexToRecord(long commitIndex, long lastIndex) => commitIndex;

    /// <summary>Whether a follower may commit now: when the vote record of the leader's term is durable.</summary>
    public virtual bool MayCommitAsFollower(bool voteIsDurable) => voteIsDurable;

    /// <summary>
    /// Returns the last index of the follower's log that an append keeps. Both logs match through
    /// <paramref name="agreed"/>. Only a received entry that contradicts the log truncates it; a delayed duplicate does
    /// not.
    /// </summary>
    public virtual long KeptAfterAppend(long agreed, long lastIndex, bool contradicts) =>
        contradicts ? agreed : lastIndex;

    /// <summary>
    /// Whether this node may propose an entry: only a leader, and not during a leadership transfer (thesis 3.10).
    /// </summary>
    public virtual bool MayPropose(bool leads, bool isTransferring) => leads && !isTransferring;

    /// <summary>Returns the transfer target to keep when a leadership ends: none.</summary>
    public virtual NodeId TransferAfterLeadership(NodeId transferTo) => NodeId.None;

    /// <summary>Returns the number of voters in a majority.</summary>
    public virtual int MajorityOf(Configuration configuration) => configuration.Majority;

    /// <summary>Returns the configuration in force: the newest one in the log, committed or not (thesis 4.1).</summary>
    public virtual Configuration InForce(EntryLog log) => log.Configuration;

    /// <summary>
    /// Whether a snapshot may replace the log: only once this node has reached the sender's term,
    /// <paramref name="committedBy"/>. The snapshot's entries were committed in that term or earlier, so any leader of
    /// this node's term has them too (paper 5.4.3). The term of the snapshot's last entry is not enough. A leader of a
    /// later term may have committed that entry, while the leader that this node knows has another entry at that index.
    /// </summary>
    public virtual bool MayInstall(LogPosition snapshot, long committedBy, long term) =>
        snapshot.Term <= committedBy && committedBy <= term;

    /// <summary>
    /// Whether the log keeps its entries after a snapshot: when it durably contains the snapshot's last entry. Dropping
    /// them would lose acknowledged entries.
    /// </summary>
    public virtual bool KeepsTail(bool isInLog, bool isDurable) => isInLog && isDurable;

    /// <summary>Whether a node may campaign: only a voter of its own newest configuration.</summary>
    public virtual bool MayCampaign(bool isVoter) => isVoter;

    /// <summary>
    /// Whether a node whose disk stalled may campaign: when its store has worked well since, or when no leader was
    /// heard for four election timeouts. Within that time other nodes can campaign twice. The node must not abstain for
    /// ever, because it may have the only up-to-date log.
    /// </summary>
    public virtual bool MayCampaignAfterStall(
        bool isOverStall,
        long leaderlessMicroseconds,
        long timeoutMicroseconds
    ) => isOverStall || leaderlessMicroseconds >= 4 * timeoutMicroseconds;

    /// <summary>
    /// Whether a node may vote: always. A voter may not have received the configuration that makes it a voter (thesis
    /// 4.2.2).
    /// </summary>
    public virtual bool MayVote(bool isVoter) => true;

    /// <summary>
    /// Returns the number of pre-votes needed before an election (thesis 9.6): a majority, or all voters if this node's
    /// disk may have lost its last sync.
    /// </summary>
    public virtual int PreVotesNeeded(int majority, int voters, bool isCautious) => isCautious ? voters : majority;

    /// <summary>Whether a leader stays leader: only while a majority answers (thesis 6.2).</summary>
    public virtual bool MayStayLeader(bool hearsMajority) => hearsMajority;

    /// <summary>
    /// Returns the first index to hold back from a peer that loses its vote at <paramref name="configurationIndex"/>,
    /// until that entry is committed.
    /// </summary>
    public virtual long HoldBackFrom(long configurationIndex) => configurationIndex;

    /// <summary>Whether a reply counts: only if it comes from the newest known start of the peer's store.</summary>
    public virtual bool CountsAnswer(long startNumber, long newestKnown) => startNumber >= newestKnown;

    /// <summary>
    /// Whether the reply to a heartbeat answers a heartbeat of this term. The refusal of an earlier term's message only
    /// shows that the peer is reachable: it carries no health and no clock, and its round number is that of the refused
    /// message. An earlier start of this leader may have counted more rounds than this one, so that number could
    /// confirm a round that has not begun.
    /// </summary>
    public virtual bool IsAnswerOfTerm(bool isRefusal) => !isRefusal;

    /// <summary>Whether an answer counts as lost, so that its message is repeated.</summary>
    public virtual bool AnswerIsLost(long waitedMicroseconds, long timeoutMicroseconds) =>
        waitedMicroseconds > timeoutMicroseconds;

    /// <summary>
    /// Whether a membership change may begin: after an entry of this term and the preceding change are committed
    /// (Ongaro, raft-dev 2015).
    /// </summary>
    public virtual bool MayChangeMembers(bool ownTermCommitted, bool changeIsPending) =>
        ownTermCommitted && !changeIsPending;

    /// <summary>
    /// Whether a read round may begin: after an entry of this term is committed (thesis 6.4, step 1).
    /// </summary>
    public virtual bool MayBeginReads(bool ownTermCommitted) => ownTermCommitted;

    /// <summary>
    /// Whether a round's reads may be served: when a majority confirmed the leadership in that round (thesis 6.4, step
    /// 3). No leases are used, because a paused process would violate them.
    /// </summary>
    public virtual bool MayServeReads(bool roundIsConfirmed) => roundIsConfirmed;

    /// <summary>
    /// Whether a candidate's log is new enough for this node's vote: at least as up to date as its own log, and as
    /// every entry that it may have acknowledged.
    /// </summary>
    public virtual bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition mayHaveAcknowledged) =>
        candidate >= ownLast && candidate >= mayHaveAcknowledged;

    /// <summary>Whether this node's outcome equals the majority's.</summary>
    public virtual bool IsSameOutcome(OutcomeHash own, OutcomeHash agreed) => own == agreed;

    /// <summary>
    /// Returns the clock to follow: the leader's own while it is synchronised and within a minute of the voters'
    /// median, otherwise the median (docs/explanation/consensus.md, Time).
    /// </summary>
    public virtual long ClockToFollow(long median, long own, bool isOwnSure) =>
        isOwnSure && Math.Abs(own - median) <= ClusterClock.AgreementTicks ? own : median;

    /// <summary>
    /// Whether a time becomes the cluster's time: when a majority of synchronised clocks confirms it, or when a
    /// majority agrees on it and it is not a jump. Boards without a battery-backed clock may all boot in 1970 or 2080.
    /// </summary>
    public virtual bool MayAdoptTime(bool isConfirmed, bool agrees, bool isNear) => isConfirmed || (agrees && isNear);

    /// <summary>
    /// Whether the next log time is ahead of the last one by at most the real time that passed. That holds when the
    /// clock is not in doubt and has not jumped since the last log time.
    /// </summary>
    public virtual bool IsSteady(bool isSure, long lastTicks, long steadySinceTicks) =>
        isSure && lastTicks >= steadySinceTicks;

    /// <summary>
    /// Returns the last index that becomes durable when an outstanding write completes after a truncation. The write
    /// does not contain the entries that replaced truncated ones.
    /// </summary>
    public virtual long OutstandingAfterTruncation(long outstandingLast, long truncateAfter) =>
        Math.Min(outstandingLast, truncateAfter);
}
