using System.Diagnostics;

namespace Rookery.Raft;

/// <summary>
/// The branches of the core that are taken seldom, by name, so that the simulator can prove that it took each. In
/// builds for release there is no trace of them.
/// </summary>
internal enum RareBranch
{
    /// <summary>After an unclean stop, all voters are asked.</summary>
    CautiousCampaign,

    /// <summary>A worse board draws its election later.</summary>
    LaterDrawOfWorseBoard,

    /// <summary>A node whose disk stalled does not campaign yet.</summary>
    NoCampaignAfterStall,

    /// <summary>A node whose disk stalled campaigns, because nobody else came to lead.</summary>
    CampaignSoonAfterStall,

    /// <summary>A damaged store does not campaign.</summary>
    NoCampaignWhenDamaged,

    /// <summary>A damaged store's vote is refused for what it had acknowledged, not for what it holds.</summary>
    RefusedForLostTail,

    /// <summary>The term of a refused pre-vote is adopted.</summary>
    AdoptedTermOfRefusal,

    /// <summary>A vote is not even answered, because a leader is heard.</summary>
    IgnoredVote,

    /// <summary>A campaign because the leader asked for it.</summary>
    CampaignByTransfer,

    /// <summary>A leader's old message is answered with the new term.</summary>
    RefusedOldTerm,

    /// <summary>The clock jumped past the election timeout, and the leader gave up.</summary>
    JumpOfClock,

    /// <summary>A message waits for the vote record.</summary>
    HeldForVote,

    /// <summary>A newer message takes the place of one that waits.</summary>
    HeldReplaced,

    /// <summary>A message that waited is of a term that is over.</summary>
    HeldForNothing,

    /// <summary>A majority was not heard from.</summary>
    LostQuorum,

    /// <summary>A hand-over was given up.</summary>
    TransferGivenUp,

    /// <summary>A hand-over for a hung disk was given up, and the leader steps down.</summary>
    SteppedDownWithoutTransfer,

    /// <summary>A leader whose disk hangs hands over.</summary>
    StallHandsOver,

    /// <summary>A leader whose disk hangs finds nobody to hand over to.</summary>
    StallStepsDown,

    /// <summary>All disks hang.</summary>
    StallOfAll,

    /// <summary>A better board gets the lead.</summary>
    HandedToBetterBoard,

    /// <summary>A message of an earlier start of its store.</summary>
    HeardOldIncarnation,

    /// <summary>The first message of a later start of its store.</summary>
    HeardNewIncarnation,

    /// <summary>A new leader holds an inherited change back.</summary>
    HeldBackInherited,

    /// <summary>Entries wait for the commit of the one that takes a vote away.</summary>
    HeldBackEntries,

    /// <summary>A removed member is forgotten.</summary>
    ForgotRemoved,

    /// <summary>A majority has an entry of an old term, which is not committed by that.</summary>
    OldTermNotCounted,

    /// <summary>As many messages are on the way to a peer as may be, or bytes.</summary>
    WindowFull,

    /// <summary>A manifest behind the released entries is not there yet.</summary>
    ManifestAwaited,

    /// <summary>A peer is offered the manifest for entries that cannot be read.</summary>
    ManifestForUnreadable,

    /// <summary>A leader that cannot read what a peer misses hands over.</summary>
    HandedOverUnreadable,

    /// <summary>A late refusal is ignored.</summary>
    OldRefusalIgnored,

    /// <summary>A peer lost what it had acknowledged.</summary>
    PeerLostEntries,

    /// <summary>A search goes back by more than one entry at once.</summary>
    LookedBackFar,

    /// <summary>An answer was lost.</summary>
    AnswerLost,

    /// <summary>A connection broke.</summary>
    PeerUnreachable,

    /// <summary>An append was refused.</summary>
    RefusedAppend,

    /// <summary>Entries came that lie in the manifest.</summary>
    AppendBelowBase,

    /// <summary>Entries came that the log has.</summary>
    KnownEntriesSkipped,

    /// <summary>Entries of the log were replaced.</summary>
    TailReplaced,

    /// <summary>Entries that a write under way brings to disk were replaced.</summary>
    TailReplacedWhileWriting,

    /// <summary>What a leader committed waits for the vote record of its term.</summary>
    CommitAwaitsVote,

    /// <summary>Some of what was verified is durable, and acknowledged.</summary>
    AcknowledgedInPart,

    /// <summary>A manifest is offered that holds no more than is committed here.</summary>
    OfferOfOldManifest,

    /// <summary>A manifest is offered while one is fetched.</summary>
    OfferWhileFetching,

    /// <summary>A fetched manifest came too late, or too early, to be put in place.</summary>
    FetchedForNothing,

    /// <summary>A manifest was put in place, and the log behind it stayed.</summary>
    ManifestKeptTail,

    /// <summary>
    /// A manifest took the place of tables that had not come to what is committed, and the log stayed.
    /// </summary>
    ManifestReplacedTables,

    /// <summary>A manifest took the place of the log.</summary>
    ManifestReplacedLog,

    /// <summary>A damaged store is whole again.</summary>
    DamageHealed,

    /// <summary>Reads of a leader that lost its leadership wait for the next.</summary>
    ReadsTakenBack,

    /// <summary>A question for reads is put again.</summary>
    AskedAgain,

    /// <summary>An answer comes to a question that was put again.</summary>
    LateReadReply,

    /// <summary>Voters differ in what came of apply, and no majority is known yet.</summary>
    OutcomesDiffer,

    /// <summary>What a majority came to is compared when the own state has come there.</summary>
    OutcomeComparedLater,

    /// <summary>The time jumped, and a synchronised majority says so.</summary>
    ClockJumpTaken,

    /// <summary>The clocks agree on another time, which nobody confirms.</summary>
    ClockJumpDoubted,

    /// <summary>No majority of clocks agrees on a time.</summary>
    ClocksDiffer,

    /// <summary>A cluster that knows no time yet is told one that cannot be.</summary>
    ClockImplausible,

    /// <summary>An operator confirmed the time.</summary>
    ClockConfirmed,

    /// <summary>This node differs from a majority.</summary>
    Diverged,
}

/// <summary>Counts <see cref="RareBranch"/>es for each thread: a simulated cluster runs in one.</summary>
internal static class Coverage
{
    [ThreadStatic]
    private static long[]? _counts;

    [Conditional("DEBUG")]
    public static void Took(RareBranch branch) => Counts[(int)branch]++;

    /// <summary>How often this thread took each branch.</summary>
    public static long[] Counts => _counts ??= new long[Enum.GetValues<RareBranch>().Length];
}
