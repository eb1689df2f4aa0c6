namespace Rookery.Journal;

/// <summary>The findings and actions of a recovery, for the program log and the dashboard.</summary>
/// <param name="Verdict">The case of the recovery table.</param>
/// <param name="Label">Letter of the case in docs/explanation/durability.md.</param>
/// <param name="Sentence">What was found, where, and what was done.</param>
/// <param name="MayHaveAcknowledged">Position of the last entry that this store may have acknowledged. After
/// <see cref="TailVerdict.RepairFromPeers"/> it is later than the log's end, in this and later starts, until the log
/// reaches it again.</param>
/// <param name="KeptAside">Files that were renamed or linked because they are foreign or damaged.</param>
public sealed record JournalRecovery(
    TailVerdict Verdict,
    char Label,
    string Sentence,
    EntryPosition MayHaveAcknowledged,
    IReadOnlyList<string> KeptAside
);
