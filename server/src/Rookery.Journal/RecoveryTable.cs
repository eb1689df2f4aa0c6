namespace Rookery.Journal;

/// <summary>
/// The one place that decides what a broken end means. docs/explanation/durability.md argues each case under its
/// letter.
/// </summary>
internal static class RecoveryTable
{
    /// <summary>Judges the first place of the log that cannot be read.</summary>
    /// <param name="wasWhole">There is a sign that it had been durable: a frame, a segment or a clean stop of a later
    /// journal write, or the manifest or the length of the file shows that there was more.</param>
    /// <param name="stoppedInOrder">The last readable frame is a clean stop.</param>
    /// <param name="hasPeers">Peers can give the frames back.</param>
    /// <param name="manifestHoldsTheGap">Every frame that cannot be read is at or below the manifest's index, and
    /// reading can go on behind it.</param>
    /// <param name="voteIsKnown">The last vote was not in what cannot be read.</param>
    public static TailVerdict JudgeFirstInvalidFrame(
        bool wasWhole,
        bool stoppedInOrder,
        bool hasPeers,
        bool manifestHoldsTheGap,
        bool voteIsKnown
    ) =>
        (wasWhole, stoppedInOrder, hasPeers, manifestHoldsTheGap, voteIsKnown) switch
        {
            (false, true, _, _, _) => TailVerdict.GoOnAfterCleanStop, // S: nothing was being written
            (false, false, _, _, _) => TailVerdict.TruncateTornTail, // A: power went while it was written
            (true, _, true, _, false) => TailVerdict.StopAndExplain, // C: a member that forgot a vote could vote twice
            (true, _, _, true, _) => TailVerdict.PassOverApplied, // D: nothing is lost
            // B: perhaps acknowledged; any peer's frame will do
            (true, _, true, false, _) => TailVerdict.RepairFromPeers,
            (true, _, false, false, _) => TailVerdict.StopAndExplain, // C: a lone node must not choose what to lose
        };

    /// <summary>
    /// Judges the journal as a whole, before any place in it. I: the manifest holds a state that was installed from a
    /// peer, and the newest segment does not carry the mark of it: the cut came between the manifest and the journal,
    /// whose entries the state replaces.
    /// </summary>
    /// <param name="installedMark">The mark in the manifest; 0 when it holds no installed state.</param>
    /// <param name="journalMark">The mark in the newest segment's header.</param>
    public static bool IsGivenUp(long installedMark, long journalMark) =>
        installedMark != 0 && installedMark != journalMark;

    public static char LabelOf(TailVerdict verdict) =>
        verdict switch
        {
            TailVerdict.BeginNew => 'N',
            TailVerdict.GoOnAfterCleanStop => 'S',
            TailVerdict.TruncateTornTail => 'A',
            TailVerdict.RepairFromPeers => 'B',
            TailVerdict.StopAndExplain => 'C',
            TailVerdict.PassOverApplied => 'D',
            TailVerdict.BeginBehindInstalled => 'I',
            _ => throw new ArgumentOutOfRangeException(nameof(verdict), verdict, message: null),
        };
}
