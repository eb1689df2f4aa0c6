namespace Rookery.Raft;

/// <summary>
/// The decisions that safety and progress hang on, one by one, so that tests can replace one with a known mistake and
/// see that the simulator finds it. The program has just this one set.
/// </summary>
internal class SafetyRules
{
    public static SafetyRules Sound { get; } = new();

    /// <summary>How far the leader counts itself: to what its own journal has made durable (thesis 10.2.1).</summary>
    public virtual long OwnMatch(long durableIndex, long lastIndex) => durableIndex;

    /// <summary>
    /// Whether an entry of <paramref name="entryTerm"/> may be committed by counting: only one of the leader's own term
    /// (thesis 3.6.2, figure 3.7).
    /// </summary>
    public virtual bool MayCommitByCounting(long entryTerm, long currentTerm) => entryTerm == currentTerm;

    /// <summary>
    /// Whether a message may leave before the vote record is durable that its term, or the vote in it, rests on.
    /// </summary>
    public virtual bool MayLeaveBeforeVoteIsDurable(MessageKind kind) => kind is MessageKind.PreVote;

    /// <summary>
    /// Whether the candidate has its own vote: when its record is durable. Else a restart votes again in a term that it
    /// led.
    /// </summary>
    public virtual bool HasOwnVote(bool voteIsDurable) => voteIsDurable;

    /// <summary>
    /// What a follower says it has: what this leader's messages verified, as far as it is durable; not simply the end
    /// of its log.
    /// </summary>
    public virtual long Acknowledged(long verified, long durableIndex, long lastIndex) =>
        Math.Min(verified, durableIndex);

    /// <summary>How far a follower commits: never past what it verified against the leader's log.</summary>
    public virtual long FollowerCommit(long leaderCommit, long verified) => Math.Min(leaderCommit, verified);

    /// <summary>
    /// Through which index a journal write may note that the log is committed: as far as this node knows it, for a
    /// start that knows no leader takes it as it is.
    /// </summary>
    public virtual long MayBeNoted(long commitIndex, long lastIndex) => commitIndex;

    /// <summary>
    /// Whether a follower may commit now: when the vote record is durable that the leader's term rests on.
    /// </summary>
    public virtual bool MayCommitAsFollower(bool voteIsDurable) => voteIsDurable;

    /// <summary>
    /// Through which index the log stays when an append agrees with it through <paramref name="agreed"/>: whole, unless
    /// an entry contradicts it. A late duplicate shortens nothing.
    /// </summary>
    public virtual long KeptAfterAppend(long agreed, long lastIndex, bool contradicts) =>
        contradicts ? agreed : lastIndex;

    /// <summary>
    /// Whether an entry may be proposed here: only a leader stamps entries with its term, and none while it hands over
    /// (thesis 3.10).
    /// </summary>
    public virtual bool MayPropose(bool leads, bool isHandingOver) => leads && !isHandingOver;

    /// <summary>What remains of a transfer when a leadership ends: nothing.</summary>
    public virtual NodeId TransferAfterLeadership(NodeId transferTo) => NodeId.None;

    /// <summary>How many voters make a majority; of none, no number.</summary>
    public virtual int MajorityOf(Configuration configuration) => configuration.Majority;

    /// <summary>
    /// The configuration that counts: the newest in the log; should it be replaced, the one before (thesis 4.1).
    /// </summary>
    public virtual Configuration InForce(EntryLog log) => log.Configuration;

    /// <summary>
    /// Whether a manifest may take the place of the log: not before the node has heard of the term that its giver was
    /// in. What it holds was committed in that term or before, so that whoever leads here has it too (paper 5.4.3). The
    /// term of its last entry says less: an entry of an older term may have been committed by a leader that this node
    /// has not heard of, and its own leader may have another there. A giver's term is never below that of what it
    /// holds: one that is says nothing.
    /// </summary>
    public virtual bool MayInstall(LogPosition manifest, long committedBy, long term) =>
        manifest.Term <= committedBy && committedBy <= term;

    /// <summary>
    /// Whether a manifest leaves the log as it is: when the log has its last entry, durably. Else what was acknowledged
    /// behind it would be lost.
    /// </summary>
    public virtual bool KeepsTail(bool isInLog, bool isDurable) => isInLog && isDurable;

    /// <summary>Whether a node may campaign: only a voter, and by its own configuration.</summary>
    public virtual bool MayStand(bool isVoter) => isVoter;

    /// <summary>
    /// Whether a node whose disk stalled may campaign: when its store has done well since, or when nobody has led for
    /// four election timeouts. Others get the time of two attempts; none of them may be electable, and who has the only
    /// log that is long enough must not keep away.
    /// </summary>
    public virtual bool MayStandAfterStall(bool isOverStall, long leaderlessMicroseconds, long timeoutMicroseconds) =>
        isOverStall || leaderlessMicroseconds >= 4 * timeoutMicroseconds;

    /// <summary>Whether a node may vote: any. A voter may not know yet that it is one (thesis 4.2.2).</summary>
    public virtual bool MayVote(bool isVoter) => true;

    /// <summary>
    /// How many must say that they would vote before an election begins (thesis 9.6); all, when the own card may have
    /// lied about its last sync.
    /// </summary>
    public virtual int PreVotesNeeded(int majority, int voters, bool isCautious) => isCautious ? voters : majority;

    /// <summary>Whether a leader goes on: as long as a majority answers (thesis 6.2).</summary>
    public virtual bool MayStayLeader(bool hearsMajority) => hearsMajority;

    /// <summary>
    /// From which index on entries wait, for a peer that loses its vote at <paramref name="configurationIndex"/>, until
    /// that is committed.
    /// </summary>
    public virtual long HoldBackFrom(long configurationIndex) => configurationIndex;

    /// <summary>Whether an answer counts: not of an earlier start of the store than the newest known.</summary>
    public virtual bool CountsAnswer(long incarnation, long newestKnown) => incarnation >= newestKnown;

    /// <summary>Whether an answer is given up, and its question put again.</summary>
    public virtual bool AnswerIsLost(long waitedMicroseconds, long timeoutMicroseconds) =>
        waitedMicroseconds > timeoutMicroseconds;

    /// <summary>
    /// Whether a member may change now: after an entry of this term was committed, and the change before (Ongaro,
    /// raft-dev 2015).
    /// </summary>
    public virtual bool MayChangeMembers(bool ownTermCommitted, bool changeIsPending) =>
        ownTermCommitted && !changeIsPending;

    /// <summary>
    /// Whether reads may be served from a round: after an entry of this term was committed (thesis 6.4, step 1).
    /// </summary>
    public virtual bool MayBeginReads(bool ownTermCommitted) => ownTermCommitted;

    /// <summary>
    /// Whether a round's reads may be served: when a majority confirmed the leadership in that round (thesis 6.4,
    /// step 3). Without leases: a pause breaks them.
    /// </summary>
    public virtual bool MayServeReads(bool roundIsConfirmed) => roundIsConfirmed;

    /// <summary>
    /// Whether a voter may grant: only to logs at least as new as its own and as all it may have acknowledged.
    /// </summary>
    public virtual bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition votedBy) =>
        candidate >= ownLast && candidate >= votedBy;

    /// <summary>Whether this node came to what a majority came to by applying.</summary>
    public virtual bool IsSameOutcome(OutcomeHash own, OutcomeHash agreed) => own == agreed;

    /// <summary>
    /// Which clock the cluster goes by: the leader's own while it is synchronised and within a minute of the voters'
    /// median, else the median (docs/explanation/consensus.md, Time).
    /// </summary>
    public virtual long TimeToGoBy(long median, long own, bool isOwnSure) =>
        isOwnSure && Math.Abs(own - median) <= ClusterClock.AgreementTicks ? own : median;

    /// <summary>
    /// Whether a time is taken for the cluster's: when a synchronised majority says it, or when a majority says it and
    /// it is no jump. A card without a clock may boot in 1970 or 2080, and so may three.
    /// </summary>
    public virtual bool MayTakeTime(bool isConfirmed, bool agrees, bool isNear) => isConfirmed || (agrees && isNear);

    /// <summary>
    /// Whether as much time lies between the log's last time and the next as passed: when nothing speaks against the
    /// clock, and it has not jumped since that last time.
    /// </summary>
    public virtual bool IsSteady(bool isSure, long lastTicks, long steadySinceTicks) =>
        isSure && lastTicks >= steadySinceTicks;

    /// <summary>
    /// Through which index an outstanding write counts when it completes, after a truncation: no entry that took the
    /// place of another is durable by the other's write.
    /// </summary>
    public virtual long OutstandingAfterTruncation(long outstandingLast, long truncateAfter) =>
        Math.Min(outstandingLast, truncateAfter);
}
