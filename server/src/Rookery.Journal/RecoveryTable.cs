namespace Rookery.Journal;

/// <summary>
/// Decides what a broken end of the journal means. docs/explanation/durability.md explains each case under its letter.
/// </summary>
internal static class RecoveryTable
{
    /// <summary>Returns the verdict on the first frame of the log that cannot be read.</summary>
    /// <param name="wasDurable">Whether there is proof that the frame had been durable: a frame, segment or clean stop
    /// of a later journal write, the manifest's index or the file's length.</param>
    /// <param name="stoppedCleanly">Whether the last readable frame is a clean stop.</param>
    /// <param name="hasPeers">Whether other members can resend the entries.</param>
    /// <param name="manifestCoversGap">Whether all unreadable entries are at or below the manifest's index, and the log
    /// continues after the gap.</param>
    /// <param name="isVoteKnown">Whether the unreadable bytes cannot contain the last vote.</param>
    public static TailVerdict JudgeFirstInvalidFrame(
        bool wasDurable,
        bool stoppedCleanly,
        bool hasPeers,
        bool manifestCoversGap,
        bool isVoteKnown
    ) =>
        (wasDurable, stoppedCleanly, hasPeers, manifestCoversGap, isVoteKnown) switch
        {
            (false, true, _, _, _) => TailVerdict.ContinueAfterCleanStop, // S: no write was in progress
            (false, false, _, _, _) => TailVerdict.TruncateTornTail, // A: power failed during the write
            (true, _, true, _, false) => TailVerdict.StopAndExplain, // C: a member that lost a vote could vote twice
            (true, _, _, true, _) => TailVerdict.SkipAppliedGap, // D: nothing is lost
            // B: perhaps acknowledged; another member can resend it
            (true, _, true, false, _) => TailVerdict.RepairFromPeers,
            (true, _, false, false, _) => TailVerdict.StopAndExplain, // C: a single node must not decide what to lose
        };

    /// <summary>
    /// Returns whether the whole log must be discarded (case I): the manifest contains an installed snapshot with a
    /// mark that differs from the newest segment's. That happens when power fails after the manifest was written and
    /// before the journal was reset.
    /// </summary>
    /// <param name="installedMark">The manifest's mark; 0 without an installed snapshot.</param>
    /// <param name="journalMark">The mark in the newest segment's header.</param>
    public static bool IsDiscarded(long installedMark, long journalMark) =>
        installedMark != 0 && installedMark != journalMark;

    /// <summary>Returns the letter of a verdict in docs/explanation/durability.md.</summary>
    public static char LabelOf(TailVerdict verdict) =>
        verdict switch
        {
            TailVerdict.BeginNew => 'N',
            TailVerdict.ContinueAfterCleanStop => 'S',
            TailVerdict.TruncateTornTail => 'A',
            TailVerdict.RepairFromPeers => 'B',
            TailVerdict.StopAndExplain => 'C',
            TailVerdict.SkipAppliedGap => 'D',
            TailVerdict.ContinueAfterSnapshot => 'I',
            _ => throw new ArgumentOutOfRangeException(nameof(verdict), verdict, message: null),
        };
}
