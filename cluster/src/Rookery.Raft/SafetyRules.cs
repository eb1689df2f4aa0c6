namespace Rookery.Raft;

/// <summary>
/// The decisions on which safety and progress depend, each in a method of its own, so that tests can replace one by a
/// known mistake and check that the simulator finds it. The program uses only <see cref="Sound"/>.
/// </summary>
internal class SafetyRules
{
    public static SafetyRules Sound { get; } = new();

    /// <summary>Returns the index through which the leader counts itself: its durable index (thesis 10.2.1).</summary>
    public virtual long OwnMatch(long durableIndex, long lastIndex) => durableIndex;

    /// <summary>
    /// Whether an entry may be committed by counting: only one of the leader's own term (thesis 3.6.2, figure 3.7).
    /// </summary>
    public virtual bool MayCommitByCounting(long entryTerm, long currentTerm) => entryTerm == currentTerm;

    /// <summary>Whether a message may be sent before the vote record of its term is durable.</summary>
    public virtual bool MayLeaveBeforeVoteIsDurable(MessageKind kind) => kind is MessageKind.PreVote;

    /// <summary>
    /// Whether a candidate may count its own vote: when the vote record is durable. Otherwise, after a restart, it
    /// could vote again in a term that it led.
    /// </summary>
    public virtual bool HasOwnVote(bool voteIsDurable) => voteIsDurable;

    /// <summary>
    /// Returns the index that a follower acknowledges: what the current leader's messages verified and what is durable;
    /// not simply the end of its log.
    /// </summary>
    public virtual long Acknowledged(long verified, long durableIndex, long lastIndex) =>
        Math.Min(verified, durableIndex);

    /// <summary>Returns a follower's commit index: never more than it verified against the leader's log.</summary>
    public virtual long FollowerCommit(long leaderCommit, long verified) => Math.Min(leaderCommit, verified);

    /// <summary>
    /// Returns the commit index to record in a journal write. The next start trusts it without a leader, so it is what
    /// this node knows to be committed.
    /// </summary>
    public virtual long MayBeNoted(long commitIndex, long lastIndex) => commitIndex;

    /// <summary>Whether a follower may commit now: when the vote record of the leader's term is durable.</summary>
    public virtual bool MayCommitAsFollower(bool voteIsDurable) => voteIsDurable;

    /// <summary>
    /// Returns the last index that an append keeps, if both logs match through <paramref name="agreed"/>: everything,
    /// unless an entry contradicts the log. A delayed duplicate truncates nothing.
    /// </summary>
    public virtual long KeptAfterAppend(long agreed, long lastIndex, bool contradicts) =>
        contradicts ? agreed : lastIndex;

    /// <summary>
    /// Whether an entry may be proposed here: only a leader stamps entries with its term, and not during a leadership
    /// transfer (thesis 3.10).
    /// </summary>
    public virtual bool MayPropose(bool leads, bool isHandingOver) => leads && !isHandingOver;

    /// <summary>Returns the transfer target to keep when a leadership ends: none.</summary>
    public virtual NodeId TransferAfterLeadership(NodeId transferTo) => NodeId.None;

    /// <summary>Returns the number of voters in a majority.</summary>
    public virtual int MajorityOf(Configuration configuration) => configuration.Majority;

    /// <summary>
    /// Returns the configuration in force: the newest one in the log. If that is truncated, the one before it (thesis
    /// 4.1).
    /// </summary>
    public virtual Configuration InForce(EntryLog log) => log.Configuration;

    /// <summary>
    /// Whether a manifest may replace the log: not before this node has reached the term that the sender was in. The
    /// manifest's entries were committed in that term or earlier, so any leader of this node's term has them too (paper
    /// 5.4.3). The term of its last entry is not enough: an entry of an older term may have been committed by a leader
    /// that this node has not heard of, while this node's own leader has another entry there. A sender's term below the
    /// last entry's term is invalid.
    /// </summary>
    public virtual bool MayInstall(LogPosition manifest, long committedBy, long term) =>
        manifest.Term <= committedBy && committedBy <= term;

    /// <summary>
    /// Whether the log keeps the entries after a manifest: when it durably contains the manifest's last entry.
    /// Otherwise acknowledged entries after it would be lost.
    /// </summary>
    public virtual bool KeepsTail(bool isInLog, bool isDurable) => isInLog && isDurable;

    /// <summary>Whether a node may campaign: only a voter of its own newest configuration.</summary>
    public virtual bool MayStand(bool isVoter) => isVoter;

    /// <summary>
    /// Whether a node whose disk stalled may campaign: when its store has worked well since, or when there has been no
    /// leader for four election timeouts. That gives others the time for two attempts. It must not stay away for ever,
    /// because it may have the only log that is up to date.
    /// </summary>
    public virtual bool MayStandAfterStall(bool isOverStall, long leaderlessMicroseconds, long timeoutMicroseconds) =>
        isOverStall || leaderlessMicroseconds >= 4 * timeoutMicroseconds;

    /// <summary>
    /// Whether a node may vote: always. A voter may not have received the configuration that makes it one (thesis
    /// 4.2.2).
    /// </summary>
    public virtual bool MayVote(bool isVoter) => true;

    /// <summary>
    /// Returns the number of pre-votes needed before an election (thesis 9.6): all voters' when this node's disk may
    /// have lied about its last sync, otherwise a majority.
    /// </summary>
    public virtual int PreVotesNeeded(int majority, int voters, bool isCautious) => isCautious ? voters : majority;

    /// <summary>Whether a leader stays leader: while a majority answers (thesis 6.2).</summary>
    public virtual bool MayStayLeader(bool hearsMajority) => hearsMajority;

    /// <summary>
    /// Returns the first index to hold back from a peer that loses its vote at <paramref name="configurationIndex"/>,
    /// until that entry is committed.
    /// </summary>
    public virtual long HoldBackFrom(long configurationIndex) => configurationIndex;

    /// <summary>
    /// Whether an answer counts: not if it is of an earlier start of the store than the newest known one.
    /// </summary>
    public virtual bool CountsAnswer(long incarnation, long newestKnown) => incarnation >= newestKnown;

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
    /// Whether a voter may grant its vote: only to a log at least as up to date as its own and as everything it may
    /// have acknowledged.
    /// </summary>
    public virtual bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition votedBy) =>
        candidate >= ownLast && candidate >= votedBy;

    /// <summary>Whether this node's outcome equals the majority's.</summary>
    public virtual bool IsSameOutcome(OutcomeHash own, OutcomeHash agreed) => own == agreed;

    /// <summary>
    /// Returns the clock to follow: the leader's own while it is synchronised and within a minute of the voters'
    /// median, otherwise the median (docs/explanation/consensus.md, Time).
    /// </summary>
    public virtual long TimeToGoBy(long median, long own, bool isOwnSure) =>
        isOwnSure && Math.Abs(own - median) <= ClusterClock.AgreementTicks ? own : median;

    /// <summary>
    /// Whether a time becomes the cluster's: when a synchronised majority confirms it, or when a majority agrees on it
    /// and it is no jump. A board without a battery-backed clock may boot in 1970 or 2080, and so may three.
    /// </summary>
    public virtual bool MayTakeTime(bool isConfirmed, bool agrees, bool isNear) => isConfirmed || (agrees && isNear);

    /// <summary>
    /// Whether the difference between the last log time and the next is no more than the time that passed: when the
    /// clock is not in doubt and has not jumped since the last log time.
    /// </summary>
    public virtual bool IsSteady(bool isSure, long lastTicks, long steadySinceTicks) =>
        isSure && lastTicks >= steadySinceTicks;

    /// <summary>
    /// Returns the index through which an outstanding write counts after a truncation: its completion does not make the
    /// entries durable that replaced others.
    /// </summary>
    public virtual long OutstandingAfterTruncation(long outstandingLast, long truncateAfter) =>
        Math.Min(outstandingLast, truncateAfter);
}
