namespace Rookery.Journal;

/// <summary>
/// What recovery decided at the end of the journal. docs/explanation/durability.md argues each under the same label.
/// </summary>
public enum TailVerdict
{
    /// <summary>N: there was no journal; a new one was begun.</summary>
    BeginNew,

    /// <summary>S: the last frame says that the node stopped in order; go on behind it.</summary>
    GoOnAfterCleanStop,

    /// <summary>A: power went while the last write was on its way; nobody was told that it is durable.</summary>
    TruncateTornTail,

    /// <summary>B: perhaps acknowledged; any peer's frame will do.</summary>
    RepairFromPeers,

    /// <summary>
    /// C: perhaps acknowledged, and a lone node must not choose what to lose; or the vote of a member may be gone.
    /// </summary>
    StopAndExplain,

    /// <summary>D: damaged, but the manifest holds every frame of the gap.</summary>
    PassOverApplied,

    /// <summary>
    /// I: the manifest holds a state installed from a peer; the journal is given up, its vote apart, and begins behind
    /// that state.
    /// </summary>
    BeginBehindInstalled,
}
