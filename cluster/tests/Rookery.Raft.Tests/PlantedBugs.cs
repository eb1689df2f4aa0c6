namespace Rookery.Raft.Tests;

/// <summary>What a host of the core can do wrong.</summary>
internal enum HostMistake
{
    None,

    /// <summary>A command that a client sent again is done again.</summary>
    AppliesTwice,
}

/// <summary>A mistake of the core, or of its host.</summary>
internal sealed record PlantedBug(SafetyRules Rules, HostMistake Mistake = HostMistake.None)
{
    public static PlantedBug None { get; } = new(SafetyRules.Sound);

    public static implicit operator PlantedBug(SafetyRules rules) => new(rules);

    public static implicit operator PlantedBug(HostMistake mistake) => new(SafetyRules.Sound, mistake);
}

/// <summary>Known mistakes, one decision each, some of them once made by well-known systems. The simulator must find every one.</summary>
internal static class PlantedBugs
{
    public static IReadOnlyDictionary<string, PlantedBug> All { get; } = new Dictionary<string, PlantedBug>(StringComparer.Ordinal)
    {
        ["a follower acknowledges before its sync"] = new AcknowledgeBeforeSync(),
        ["a leader counts itself before its sync"] = new CountSelfBeforeSync(),
        ["a vote leaves before it is durable"] = new VoteBeforeDurable(),
        ["office is taken before the own vote is durable"] = new OfficeBeforeOwnVote(),
        ["an older term's entry is committed by counting"] = new CommitOldTerm(),
        ["members change twice at once"] = new TwoChanges(),
        ["a late append shortens the log"] = new LateAppendShortensLog(),
        ["a tail that no message verified is acknowledged"] = new AcknowledgeUnverifiedTail(),
        ["a follower commits what it did not verify"] = new CommitUnverified(),
        ["reads are served before an entry of the term is committed"] = new ReadBeforeNoOp(),
        ["a damaged store votes by what is left of its log"] = new ForgetLostTail(),
        ["a vote goes to any log"] = new VoteForAnyLog(),
        ["a write counts for what took the place of its entries"] = new OverwriteCounts(),
        ["a state that went astray goes on"] = new NeverCompare(),
        ["a command that is sent again is done again"] = HostMistake.AppliesTwice,
    };

    private sealed class AcknowledgeBeforeSync : SafetyRules
    {
        public override long Acknowledged(long verified, long durableIndex, long lastIndex) => verified;
    }

    private sealed class CountSelfBeforeSync : SafetyRules
    {
        public override long OwnMatch(long durableIndex, long lastIndex) => lastIndex;
    }

    private sealed class VoteBeforeDurable : SafetyRules
    {
        public override bool MayLeaveBeforeVoteIsDurable(MessageKind kind) => kind is MessageKind.PreVote or MessageKind.VoteReply;
    }

    private sealed class OfficeBeforeOwnVote : SafetyRules
    {
        public override bool HasOwnVote(bool voteIsDurable) => true;

        public override bool MayLeaveBeforeVoteIsDurable(MessageKind kind) => kind is MessageKind.PreVote or MessageKind.Vote;
    }

    private sealed class CommitOldTerm : SafetyRules
    {
        public override bool MayCommitByCounting(long entryTerm, long currentTerm) => true;
    }

    private sealed class TwoChanges : SafetyRules
    {
        public override bool MayChangeMembers(bool ownTermCommitted, bool changeIsPending) => true;
    }

    private sealed class LateAppendShortensLog : SafetyRules
    {
        public override bool LateAppendShortens => true;
    }

    private sealed class AcknowledgeUnverifiedTail : SafetyRules
    {
        public override long Acknowledged(long verified, long durableIndex, long lastIndex) => Math.Min(lastIndex, durableIndex);
    }

    private sealed class CommitUnverified : SafetyRules
    {
        public override long FollowerCommit(long leaderCommit, long verified) => leaderCommit;
    }

    private sealed class ReadBeforeNoOp : SafetyRules
    {
        public override bool MayBeginReads(bool ownTermCommitted) => true;
    }

    private sealed class ForgetLostTail : SafetyRules
    {
        public override bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition votedBy) => candidate >= ownLast;
    }

    private sealed class VoteForAnyLog : SafetyRules
    {
        public override bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition votedBy) => true;
    }

    private sealed class NeverCompare : SafetyRules
    {
        public override bool IsSameOutcome(OutcomeHash own, OutcomeHash agreed) => true;
    }

    private sealed class OverwriteCounts : SafetyRules
    {
        public override long OutstandingAfterCut(long outstandingLast, long cutAfter) => outstandingLast;
    }
}
