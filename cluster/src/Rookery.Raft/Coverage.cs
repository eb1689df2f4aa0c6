using System.Diagnostics;

namespace Rookery.Raft;

/// <summary>
/// The rarely taken branches of the core, so that the simulator can prove that it takes each. Compiled out of release
/// builds.
/// </summary>
internal enum RareBranch
{
    /// <summary>After an unclean stop, a campaign needs the pre-votes of all voters.</summary>
    CautiousCampaign,

    /// <summary>A node with a worse board draws a later election deadline.</summary>
    LaterDrawOfWorseBoard,

    /// <summary>A node whose disk stalled does not campaign yet.</summary>
    NoCampaignAfterStall,

    /// <summary>A node whose disk stalled campaigns, because no other node became leader.</summary>
    CampaignSoonAfterStall,

    /// <summary>A damaged store does not campaign.</summary>
    NoCampaignWhenDamaged,

    /// <summary>A damaged store refuses its vote because of entries that it had acknowledged and lost.</summary>
    RefusedForLostTail,

    /// <summary>The term of a refused pre-vote is adopted.</summary>
    AdoptedTermOfRefusal,

    /// <summary>A vote request is ignored, because this node hears a leader.</summary>
    IgnoredVote,

    /// <summary>A node campaigns because the leader transfers leadership to it.</summary>
    CampaignByTransfer,

    /// <summary>A message of an earlier term's leader is answered with the new term.</summary>
    RefusedOldTerm,

    /// <summary>The time jumped past the election timeout, and the leader stepped down.</summary>
    JumpOfClock,

    /// <summary>A message is held until the vote record is durable.</summary>
    HeldForVote,

    /// <summary>A newer message replaces a held one.</summary>
    HeldReplaced,

    /// <summary>A held message is dropped, because its term is over.</summary>
    HeldForNothing,

    /// <summary>A leader did not hear from a majority.</summary>
    LostQuorum,

    /// <summary>A leadership transfer timed out.</summary>
    TransferGivenUp,

    /// <summary>A transfer because of a stalled disk timed out, and the leader stepped down.</summary>
    SteppedDownWithoutTransfer,

    /// <summary>A leader whose disk stalled transfers leadership.</summary>
    StallHandsOver,

    /// <summary>A leader whose disk stalled finds no successor and steps down.</summary>
    StallStepsDown,

    /// <summary>The disks of all voters stalled.</summary>
    StallOfAll,

    /// <summary>Leadership is transferred to a better board.</summary>
    HandedToBetterBoard,

    /// <summary>A message of an earlier start of the sender's store arrived.</summary>
    HeardOldIncarnation,

    /// <summary>The first message of a later start of the sender's store arrived.</summary>
    HeardNewIncarnation,

    /// <summary>A new leader holds an inherited configuration back from the member that loses its vote.</summary>
    HeldBackInherited,

    /// <summary>Entries for a member are held back until the entry that takes its vote away is committed.</summary>
    HeldBackEntries,

    /// <summary>The progress of a removed member is dropped.</summary>
    ForgotRemoved,

    /// <summary>A majority has an entry of an earlier term, which does not commit it.</summary>
    OldTermNotCounted,

    /// <summary>The limit of messages or bytes in flight to a peer is reached.</summary>
    WindowFull,

    /// <summary>The manifest that contains the released entries is not durable yet.</summary>
    ManifestAwaited,

    /// <summary>A peer is offered the manifest for entries that cannot be read.</summary>
    ManifestForUnreadable,

    /// <summary>A leader that cannot read the entries for a peer transfers leadership.</summary>
    HandedOverUnreadable,

    /// <summary>A late refusal is ignored.</summary>
    OldRefusalIgnored,

    /// <summary>A peer lost entries that it had acknowledged.</summary>
    PeerLostEntries,

    /// <summary>The search for the common entry goes back by more than one entry.</summary>
    LookedBackFar,

    /// <summary>An answer was lost.</summary>
    AnswerLost,

    /// <summary>A connection broke.</summary>
    PeerUnreachable,

    /// <summary>An append was refused.</summary>
    RefusedAppend,

    /// <summary>Received entries are at or below the log's base.</summary>
    AppendBelowBase,

    /// <summary>Received entries are in the log already.</summary>
    KnownEntriesSkipped,

    /// <summary>Entries of the log were replaced.</summary>
    TailReplaced,

    /// <summary>Entries were replaced while the write of them was in flight.</summary>
    TailReplacedWhileWriting,

    /// <summary>A follower's commit waits until the vote record of the term is durable.</summary>
    CommitAwaitsVote,

    /// <summary>A part of the verified entries is durable and acknowledged.</summary>
    AcknowledgedInPart,

    /// <summary>The offered manifest contains no more than is committed here.</summary>
    OfferOfOldManifest,

    /// <summary>A manifest is offered while another is being fetched.</summary>
    OfferWhileFetching,

    /// <summary>A fetched manifest must not be installed any more, or not yet.</summary>
    FetchedForNothing,

    /// <summary>A manifest was installed, and the log kept its later entries.</summary>
    ManifestKeptTail,

    /// <summary>
    /// A manifest replaced tables that lagged behind the commit index, and the log kept its later entries.
    /// </summary>
    ManifestReplacedTables,

    /// <summary>A manifest replaced the log.</summary>
    ManifestReplacedLog,

    /// <summary>A damaged store has all its lost entries again.</summary>
    DamageHealed,

    /// <summary>The reads of a former leader wait for the next one.</summary>
    ReadsTakenBack,

    /// <summary>A follower repeats a read request.</summary>
    AskedAgain,

    /// <summary>The answer to an earlier read request arrives after it was repeated.</summary>
    LateReadReply,

    /// <summary>Voters have different outcomes, and no majority is known yet.</summary>
    OutcomesDiffer,

    /// <summary>The majority's outcome is compared later, when this node has applied that entry.</summary>
    OutcomeComparedLater,

    /// <summary>The cluster's time jumps, confirmed by a synchronised majority.</summary>
    ClockJumpTaken,

    /// <summary>The clocks agree on another time that is not confirmed.</summary>
    ClockJumpDoubted,

    /// <summary>No majority of clocks agrees on a time.</summary>
    ClocksDiffer,

    /// <summary>A cluster without a known time rejects an implausible one.</summary>
    ClockImplausible,

    /// <summary>An operator confirmed the time.</summary>
    ClockConfirmed,

    /// <summary>This node's outcome differs from a majority's.</summary>
    Diverged,
}

/// <summary>Counts <see cref="RareBranch"/>es per thread: a simulated cluster runs on one thread.</summary>
internal static class Coverage
{
    [ThreadStatic]
    private static long[]? _counts;

    [Conditional("DEBUG")]
    public static void Count(RareBranch branch) => Counts[(int)branch]++;

    /// <summary>How often this thread took each branch, by the branch's number.</summary>
    public static long[] Counts => _counts ??= new long[Enum.GetValues<RareBranch>().Length];
}
