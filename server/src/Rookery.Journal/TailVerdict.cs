namespace Rookery.Journal;

/// <summary>
/// Verdict of recovery on the journal's end. docs/explanation/durability.md explains each case under the same label.
/// </summary>
public enum TailVerdict
{
    /// <summary>N: no journal existed; a new one was created.</summary>
    BeginNew,

    /// <summary>S: the last frame is a clean stop; the log continues after it.</summary>
    ContinueAfterCleanStop,

    /// <summary>A: power failed during the last write, which was never acknowledged.</summary>
    TruncateTornTail,

    /// <summary>B: the damaged entries may have been acknowledged; other members can resend them.</summary>
    RepairFromPeers,

    /// <summary>
    /// C: the damaged entries may have been acknowledged, and no member can resend them; or a member may have lost its
    /// vote.
    /// </summary>
    StopAndExplain,

    /// <summary>D: entries are damaged, but the storage contains all of them.</summary>
    SkipAppliedGap,

    /// <summary>
    /// I: the manifest contains a snapshot installed from another member; the log is discarded except for its vote, and
    /// continues after that snapshot.
    /// </summary>
    ContinueAfterSnapshot,
}
