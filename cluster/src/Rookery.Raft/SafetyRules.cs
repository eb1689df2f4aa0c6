namespace Rookery.Raft;

/// <summary>
/// The decisions that safety hangs on, one by one, so that tests can replace one with a known mistake and see that the simulator finds it. The program
/// has just this one set.
/// </summary>
internal class SafetyRules
{
    public static SafetyRules Sound { get; } = new();

    /// <summary>How far the leader counts itself: to what its own journal has made durable (thesis 10.2.1).</summary>
    public virtual long OwnMatch(long durableIndex, long lastIndex) => durableIndex;

    /// <summary>Whether an entry of <paramref name="entryTerm"/> may be committed by counting: only one of the leader's own term (thesis 3.6.2, figure 3.7).</summary>
    public virtual bool MayCommitByCounting(long entryTerm, long currentTerm) => entryTerm == currentTerm;

    /// <summary>Whether a message may leave before the vote record is durable that its term, or the vote in it, rests on.</summary>
    public virtual bool MayLeaveBeforeVoteIsDurable(MessageKind kind) => kind is MessageKind.PreVote;

    /// <summary>Whether the candidate has its own vote: when its record is durable. Else a restart votes again in a term that it led.</summary>
    public virtual bool HasOwnVote(bool voteIsDurable) => voteIsDurable;

    /// <summary>What a follower says it has: what this leader's messages verified, as far as it is durable; not simply the end of its log.</summary>
    public virtual long Acknowledged(long verified, long durableIndex, long lastIndex) => Math.Min(verified, durableIndex);

    /// <summary>How far a follower commits: never past what it verified against the leader's log.</summary>
    public virtual long FollowerCommit(long leaderCommit, long verified) => Math.Min(leaderCommit, verified);

    /// <summary>Whether the entries behind an append that agrees stay: a late duplicate shortens nothing.</summary>
    public virtual bool LateAppendShortens => false;

    /// <summary>Whether a member may change now: after an entry of this term was committed, and the change before (Ongaro, raft-dev 2015).</summary>
    public virtual bool MayChangeMembers(bool ownTermCommitted, bool changeIsPending) => ownTermCommitted && !changeIsPending;

    /// <summary>Whether reads may be served from a round: after an entry of this term was committed (thesis 6.4, step 1).</summary>
    public virtual bool MayBeginReads(bool ownTermCommitted) => ownTermCommitted;

    /// <summary>Whether a voter may grant: only to logs at least as new as its own and as all it may have acknowledged.</summary>
    public virtual bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition votedBy) => candidate >= ownLast && candidate >= votedBy;

    /// <summary>Whether this node came to what a majority came to by applying.</summary>
    public virtual bool IsSameOutcome(OutcomeHash own, OutcomeHash agreed) => own == agreed;

    /// <summary>Through which index an outstanding write counts when it completes, after a cut: no entry that took the place of another is durable by the other's write.</summary>
    public virtual long OutstandingAfterCut(long outstandingLast, long cutAfter) => Math.Min(outstandingLast, cutAfter);
}
