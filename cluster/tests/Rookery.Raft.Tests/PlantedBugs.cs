namespace Rookery.Raft.Tests;

/// <summary>A mistake of the core's host.</summary>
internal enum HostMistake
{
    None,

    /// <summary>A start finds damage and records it, and the next start has lost that record.</summary>
    ForgetsDamage,

    /// <summary>A repeated command of a client is applied again.</summary>
    AppliesTwice,

    /// <summary>Starts of a store are not counted.</summary>
    ForgetsStarts,

    /// <summary>After an install, the core gets the previous configuration.</summary>
    KeepsOldConfiguration,

    /// <summary>A snapshot is installed first, and the journal is reset in a second step.</summary>
    InstallsInTwoSteps,

    /// <summary>The host does not report a stalled journal write to the core.</summary>
    HidesStalls,

    /// <summary>The host does not report that the journal cannot read entries that a peer needs.</summary>
    HidesUnreadable,

    /// <summary>An empty disk is started under the id of the disk that it replaces.</summary>
    ReusesIds,
}

/// <summary>A mistake of the core or of its host.</summary>
internal sealed record PlantedBug(SafetyRules Rules, HostMistake Mistake = HostMistake.None)
{
    /// <summary>Changes a received message; null when the core ignores it.</summary>
    public Func<Message, Message?> Reads { get; init; } = message => message;

    public static PlantedBug None { get; } = new(SafetyRules.Sound);

    public static implicit operator PlantedBug(SafetyRules rules) => new(rules);

    public static implicit operator PlantedBug(Func<Message, Message?> reads) =>
        new(SafetyRules.Sound) { Reads = reads };

    public static implicit operator PlantedBug(HostMistake mistake) => new(SafetyRules.Sound, mistake);
}

/// <summary>
/// Known mistakes, one decision each; some were made by well-known systems. The simulator must find every one.
/// </summary>
internal static class PlantedBugs
{
    public static IReadOnlyDictionary<string, PlantedBug> All { get; } =
        new Dictionary<string, PlantedBug>(StringComparer.Ordinal)
        {
            ["a follower acknowledges before its sync"] = new AcknowledgeBeforeSync(),
            ["a leader counts itself before its sync"] = new CountSelfBeforeSync(),
            ["a vote is sent before it is durable"] = new VoteBeforeDurable(),
            ["a candidate leads before its own vote is durable"] = new LeadsBeforeOwnVote(),
            ["an older term's entry is committed by counting"] = new CommitOldTerm(),
            ["two membership changes run at once"] = new TwoChanges(),
            ["a late append shortens the log"] = new LateAppendShortensLog(),
            ["a follower acknowledges entries that no message verified"] = new AcknowledgeUnverifiedTail(),
            ["a follower commits entries that no message verified"] = new CommitUnverified(),
            ["written entries are recorded as committed"] = new NoteUncommitted(),
            ["reads are served before an entry of the term is committed"] = new ReadBeforeNoOp(),
            ["a damaged member votes by the rest of its log"] = new ForgetLostTail(),
            ["a vote is granted to any log"] = new VoteForAnyLog(),
            ["a completed write counts for entries that replaced its own"] = new OverwriteCounts(),
            ["a member with a diverged state goes on"] = new NeverCompare(),
            ["a follower proposes"] = new FollowerProposes(),
            ["entries are proposed during a leadership transfer"] = new ProposeDuringTransfer(),
            ["a leadership transfer outlives the leadership"] = new TransferOutlives(),
            ["an empty set is a quorum"] = new EmptyQuorum(),
            ["half of the voters make a majority"] = new HalfIsEnough(),
            ["a replaced membership change stays in force"] = new KeepReplacedChange(),
            ["only members that know of their promotion vote"] = new VotersVote(),
            ["an election begins without a pre-vote"] = new NoPreVote(),
            ["a leader without a majority keeps leading"] = new StayWithoutMajority(),
            ["a removed voter receives the removal first"] = new HoldNothingBack(),
            ["replies from an earlier start count"] = new CountOldAnswers(),
            ["lost replies are waited for"] = new WaitForEver(),
            ["reads are served without a heartbeat round"] = new ReadWithoutRound(),
            ["a refusal confirms a round of reads"] = new RefusalConfirms(),
            ["a damaged member never votes"] = new DamagedNeverVotes(),
            ["the term of a refused pre-vote is ignored"] =
                (Func<Message, Message?>)(
                    message => message is { Kind: MessageKind.PreVoteReply, Refused: true } ? null : message
                ),
            ["a refused append counts as acknowledged"] =
                (Func<Message, Message?>)(
                    message => message.Kind == MessageKind.AppendReply ? message with { Refused = false } : message
                ),
            ["a leader ignores that all disks stall"] =
                (Func<Message, Message?>)(message => message with { Health = default }),
            ["the starts of a member are not counted"] = HostMistake.ForgetsStarts,
            ["a damaged member forgets its loss at the second start"] = HostMistake.ForgetsDamage,
            ["the configuration of a snapshot is ignored"] = HostMistake.KeepsOldConfiguration,
            ["a snapshot is installed in two steps"] = HostMistake.InstallsInTwoSteps,
            ["a snapshot replaces any log"] = new DropTail(),
            ["a snapshot of any term is installed"] = new InstallAnyTerm(),
            ["a follower commits before its vote record is durable"] = new CommitBeforeVote(),
            ["a snapshot is judged by the term of its last entry"] = new InstallByLastEntry(),
            ["a hung disk is not reported to the core"] = HostMistake.HidesStalls,
            ["unreadable entries that a peer needs are not reported"] = HostMistake.HidesUnreadable,
            ["an empty disk takes an old id"] = HostMistake.ReusesIds,
            ["a node that stalled refuses to lead although no other can"] = new StalledKeepsAway(),
            ["a leader uses its own clock"] = new OwnClock(),
            ["a time jump is accepted because the clocks agree"] = new TakeAnyJump(),
            ["records age by a jump of the time"] = new AgeByJumps(),
            ["each clock counts as synchronised"] =
                (Func<Message, Message?>)(message => message with { Clock = message.Clock with { IsSure = true } }),
            ["a repeated command is applied again"] = HostMistake.AppliesTwice,
        };

    /// <summary>The bugs that seeds find rarely or never, so only scripts do.</summary>
    public static string[] OnlyInScripts { get; } =
    [
        "an older term's entry is committed by counting",
        "two membership changes run at once",
        "a completed write counts for entries that replaced its own",
        "a follower proposes",
        "entries are proposed during a leadership transfer",
        "a leadership transfer outlives the leadership",
        "an empty set is a quorum",
        "a replaced membership change stays in force",
        "only members that know of their promotion vote",
        "a leader without a majority keeps leading",
        "a removed voter receives the removal first",
        "replies from an earlier start count",
        "a damaged member never votes",
        "reads are served without a heartbeat round",
        "a refusal confirms a round of reads",
        "the term of a refused pre-vote is ignored",
        "a refused append counts as acknowledged",
        "a leader ignores that all disks stall",
        "the starts of a member are not counted",
        "a damaged member forgets its loss at the second start",
        "the configuration of a snapshot is ignored",
        "a snapshot of any term is installed",
        "a snapshot is judged by the term of its last entry",
        "a follower commits before its vote record is durable",
        "a snapshot replaces any log",
        "a hung disk is not reported to the core",
        "unreadable entries that a peer needs are not reported",
        "an empty disk takes an old id",
        "a node that stalled refuses to lead although no other can",
        "each clock counts as synchronised",
    ];

    /// <summary>The symptoms of the bugs that seeds find. The simulator must notice one of them first.</summary>
    public static IReadOnlyDictionary<string, string[]> Symptoms { get; } =
        new Dictionary<string, string[]>(StringComparer.Ordinal)
        {
            ["a follower acknowledges before its sync"] = [NotOnDisk],
            ["a leader counts itself before its sync"] = [NotOnDisk],
            ["a vote is sent before it is durable"] = ["voted twice in term", "has two leaders"],
            ["a candidate leads before its own vote is durable"] =
            [
                "a leader's own vote is durable",
                "voted twice in term",
                "has two leaders",
            ],
            ["a late append shortens the log"] = [Replaced, NotOnDisk],
            ["a follower acknowledges entries that no message verified"] =
            [
                NotOnDisk,
                Replaced,
                "verifies no more than the leader has",
            ],
            ["written entries are recorded as committed"] = [Replaced, AppliedAnother],
            ["a follower commits entries that no message verified"] =
            [
                "committed entries are in the log",
                Replaced,
                AppliedAnother,
            ],
            ["reads are served before an entry of the term is committed"] = ["had been acknowledged before it began"],
            ["a damaged member votes by the rest of its log"] = [AppliedAnother, Replaced],
            ["a vote is granted to any log"] = [Replaced, AppliedAnother, NotOnDisk],
            ["a member with a diverged state goes on"] = ["no diverged node keeps running"],
            ["half of the voters make a majority"] = [NotOnDisk, "has two leaders", AppliedAnother],
            ["an election begins without a pre-vote"] = ["0 lead in the end"],
            ["lost replies are waited for"] = ["the leader commits", "keeps up", "0 lead in the end"],
            ["a snapshot is installed in two steps"] =
            [
                "the journal has no gaps",
                "the commit index is within the log",
            ],
            ["a leader uses its own clock"] = ["log time is ahead of every correct clock"],
            ["a time jump is accepted because the clocks agree"] = ["log time is ahead of every correct clock"],
            ["records age by a jump of the time"] = ["an entry seems older than it is"],
            ["a repeated command is applied again"] = ["the clients' answers fit no order of the operations"],
        };

    private const string NotOnDisk = "have on disk";
    private const string Replaced = "committed entries are never replaced";
    private const string AppliedAnother = ", another (";

    private sealed class AcknowledgeBeforeSync : SafetyRules
    {
        public override long Acknowledged(long verified, long durableIndex, long lastIndex) => verified;
    }

    private sealed class NoteUncommitted : SafetyRules
    {
        public override long CommitIndexToRecord(long commitIndex, long lastIndex) => lastIndex;
    }

    private sealed class CountSelfBeforeSync : SafetyRules
    {
        public override long OwnMatch(long durableIndex, long lastIndex) => lastIndex;
    }

    private sealed class VoteBeforeDurable : SafetyRules
    {
        public override bool MaySendBeforeVoteIsDurable(MessageKind kind) =>
            kind is MessageKind.PreVote or MessageKind.VoteReply;
    }

    private sealed class LeadsBeforeOwnVote : SafetyRules
    {
        public override bool HasOwnVote(bool voteIsDurable) => true;

        public override bool MaySendBeforeVoteIsDurable(MessageKind kind) =>
            kind is MessageKind.PreVote or MessageKind.Vote;
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
        public override long KeptAfterAppend(long agreed, long lastIndex, bool contradicts) => agreed;
    }

    private sealed class FollowerProposes : SafetyRules
    {
        public override bool MayPropose(bool leads, bool isTransferring) => true;
    }

    private sealed class ProposeDuringTransfer : SafetyRules
    {
        public override bool MayPropose(bool leads, bool isTransferring) => leads;
    }

    private sealed class RefusalConfirms : SafetyRules
    {
        public override bool IsAnswerOfTerm(bool isRefusal) => true;
    }

    private sealed class TransferOutlives : SafetyRules
    {
        public override NodeId TransferAfterLeadership(NodeId transferTo) => transferTo;
    }

    private sealed class EmptyQuorum : SafetyRules
    {
        public override int MajorityOf(Configuration configuration) =>
            configuration.Voters.IsEmpty ? 0 : configuration.Majority;

        public override bool MayCampaign(bool isVoter) => true;
    }

    private sealed class HalfIsEnough : SafetyRules
    {
        public override int MajorityOf(Configuration configuration) => (configuration.Voters.Length + 1) / 2;
    }

    private sealed class KeepReplacedChange : SafetyRules
    {
        private readonly Dictionary<EntryLog, (long Index, Configuration Configuration)> _newest = [];

        public override Configuration InForce(EntryLog log)
        {
            if (!_newest.TryGetValue(log, out var known) || log.ConfigurationIndex >= known.Index)
            {
                _newest[log] = known = (log.ConfigurationIndex, log.Configuration);
            }

            return known.Configuration;
        }
    }

    private sealed class VotersVote : SafetyRules
    {
        public override bool MayVote(bool isVoter) => isVoter;
    }

    private sealed class NoPreVote : SafetyRules
    {
        public override int PreVotesNeeded(int majority, int voters, bool isCautious) => 1;
    }

    private sealed class StayWithoutMajority : SafetyRules
    {
        public override bool MayStayLeader(bool hearsMajority) => true;
    }

    private sealed class HoldNothingBack : SafetyRules
    {
        public override long HoldBackFrom(long configurationIndex) => long.MaxValue;
    }

    private sealed class CountOldAnswers : SafetyRules
    {
        public override bool CountsAnswer(long startNumber, long newestKnown) => true;
    }

    private sealed class WaitForEver : SafetyRules
    {
        public override bool AnswerIsLost(long waitedMicroseconds, long timeoutMicroseconds) => false;
    }

    private sealed class ReadWithoutRound : SafetyRules
    {
        public override bool MayServeReads(bool roundIsConfirmed) => true;
    }

    private sealed class InstallAnyTerm : SafetyRules
    {
        public override bool MayInstall(LogPosition snapshot, long committedBy, long term) => true;
    }

    private sealed class CommitBeforeVote : SafetyRules
    {
        public override bool MayCommitAsFollower(bool voteIsDurable) => true;
    }

    private sealed class InstallByLastEntry : SafetyRules
    {
        public override bool MayInstall(LogPosition snapshot, long committedBy, long term) => snapshot.Term <= term;
    }

    private sealed class DropTail : SafetyRules
    {
        public override bool KeepsTail(bool isInLog, bool isDurable) => false;
    }

    private sealed class DamagedNeverVotes : SafetyRules
    {
        public override bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition mayHaveAcknowledged) =>
            candidate >= ownLast && mayHaveAcknowledged == default;
    }

    private sealed class AcknowledgeUnverifiedTail : SafetyRules
    {
        public override long Acknowledged(long verified, long durableIndex, long lastIndex) =>
            Math.Min(lastIndex, durableIndex);
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
        public override bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition mayHaveAcknowledged) =>
            candidate >= ownLast;
    }

    private sealed class VoteForAnyLog : SafetyRules
    {
        public override bool IsNewEnough(LogPosition candidate, LogPosition ownLast, LogPosition mayHaveAcknowledged) =>
            true;
    }

    private sealed class NeverCompare : SafetyRules
    {
        public override bool IsSameOutcome(OutcomeHash own, OutcomeHash agreed) => true;
    }

    private sealed class OwnClock : SafetyRules
    {
        public override long ClockToFollow(long median, long own, bool isOwnSure) => own;
    }

    private sealed class TakeAnyJump : SafetyRules
    {
        public override bool MayAdoptTime(bool isConfirmed, bool agrees, bool isNear) => agrees;
    }

    private sealed class AgeByJumps : SafetyRules
    {
        public override bool IsSteady(bool isSure, long lastTicks, long steadySinceTicks) => true;
    }

    private sealed class StalledKeepsAway : SafetyRules
    {
        public override bool MayCampaignAfterStall(
            bool isOverStall,
            long leaderlessMicroseconds,
            long timeoutMicroseconds
        ) => isOverStall;
    }

    private sealed class OverwriteCounts : SafetyRules
    {
        public override long OutstandingAfterTruncation(long outstandingLast, long truncateAfter) => outstandingLast;
    }
}
