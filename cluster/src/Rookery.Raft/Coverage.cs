namespace Rookery.Raft;

/// <summary>
/// The rarely taken branches of the core. The simulator checks that its runs take each of them.
/// </summary>
internal enum RareBranch
{
    /// <summary>After an unclean stop, a campaign needs the pre-votes of all voters.</summary>
    CautiousCampaign,

    /// <summary>A node with a hot or badly powered board draws a later election deadline.</summary>
    LaterDrawOfWorseBoard,

    /// <summary>A node whose disk stalled does not campaign yet.</summary>
    NoCampaignAfterStall,

    /// <summary>A node whose disk stalled campaigns, because no other node became leader.</summary>
    CampaignSoonAfterStall,

    /// <summary>A node with a damaged journal does not campaign.</summary>
    NoCampaignWhenDamaged,

    /// <summary>
    /// A node refuses its vote to a candidate that may lack entries which this node acknowledged and lost.
    /// </summary>
    RefusedForLostTail,

    /// <summary>The term of a refused pre-vote is adopted.</summary>
    AdoptedTermOfRefusal,

    /// <summary>A vote request is ignored, because this node is in contact with a leader.</summary>
    IgnoredVote,

    /// <summary>A node campaigns because the leader transfers leadership to it.</summary>
    CampaignByTransfer,

    /// <summary>A message of an earlier term's leader is answered with the new term.</summary>
    RefusedOldTerm,

    /// <summary>A leader hears that its message of an earlier term was refused.</summary>
    RefusedAndLeads,

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

    /// <summary>Leadership is transferred to a node with a better board.</summary>
    HandedToBetterBoard,

    /// <summary>A message of an earlier start of the sender's store arrived.</summary>
    HeardOldStart,

    /// <summary>The first message of a later start of the sender's store arrived.</summary>
    HeardNewStart,

    /// <summary>
    /// A new leader does not yet send an inherited configuration to the member that loses its vote by it.
    /// </summary>
    HeldBackInherited,

    /// <summary>Entries for a member are held back until the entry that takes its vote away is committed.</summary>
    HeldBackEntries,

    /// <summary>The progress of a removed member is dropped.</summary>
    ForgotRemoved,

    /// <summary>A majority has an entry of an earlier term. That alone does not commit the entry.</summary>
    OldTermNotCounted,

    /// <summary>The limit of messages or bytes in flight to a peer is reached.</summary>
    WindowFull,

    /// <summary>
    /// A snapshot cannot be offered yet, because the store is not durable through the released entries.
    /// </summary>
    SnapshotAwaited,

    /// <summary>A peer is offered a snapshot instead of entries that cannot be read.</summary>
    SnapshotForUnreadable,

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

    /// <summary>The offered snapshot contains no entry after this node's commit index.</summary>
    OfferOfOldSnapshot,

    /// <summary>A snapshot is offered while another is being fetched.</summary>
    OfferWhileFetching,

    /// <summary>A fetch or an installation of a snapshot failed or was refused.</summary>
    FetchedForNothing,

    /// <summary>A snapshot was installed, and the log kept its later entries.</summary>
    SnapshotKeptTail,

    /// <summary>
    /// A snapshot replaced tables that lagged behind the commit index, and the log kept its later entries.
    /// </summary>
    SnapshotReplacedTables,

    /// <summary>A snapshot replaced the log.</summary>
    SnapshotReplacedLog,

    /// <summary>A damaged log contains all its lost entries again.</summary>
    DamageHealed,

    /// <summary>The reads of a former leader wait for the next leader.</summary>
    ReadsTakenBack,

    /// <summary>A follower repeats a read request.</summary>
    AskedAgain,

    /// <summary>The answer to an earlier read request arrives after it was repeated.</summary>
    LateReadReply,

    /// <summary>Voters have different outcome hashes, and no majority agrees yet.</summary>
    OutcomesDiffer,

    /// <summary>The majority's outcome hash at an entry was compared only after this node applied the entry.</summary>
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

    /// <summary>This node's outcome hash differs from a majority's.</summary>
    Diverged,
}

/// <summary>
/// Counts how often each <see cref="RareBranch"/> is taken, per thread: a simulated cluster runs on one thread. A
/// thread counts only once it has read <see cref="Counts"/>; only tests read it.
/// </summary>
internal static class Coverage
{
    [ThreadStatic]
    private static long[]? _counts;

    public static void Count(RareBranch branch)
    {
        if (_counts is { } counts)
        {
            counts[(int)branch]++;
        }
    }

    /// <summary>The number of times this thread took each branch, indexed by the branch's number.</summary>
    public static long[] Counts => _counts ??= new long[Enum.GetValues<RareBranch>().Length];
}
