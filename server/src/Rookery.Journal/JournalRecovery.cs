namespace Rookery.Journal;

/// <summary>What opening the journal found and did; for the log and the dashboard.</summary>
/// <param name="Verdict">The case of the recovery table.</param>
/// <param name="Label">The letter of the case, as in docs/explanation/durability.md.</param>
/// <param name="Sentence">What was found, where, and what was done.</param>
/// <param name="MayHaveAcknowledged">The end of the log that this store may have acknowledged: later than its last
/// entry after <see cref="TailVerdict.RepairFromPeers"/>, until the log is as new again, over any number of
/// starts.</param>
/// <param name="KeptAside">Files set aside because they did not belong or were damaged.</param>
public sealed record JournalRecovery(
    TailVerdict Verdict,
    char Label,
    string Sentence,
    EntryPosition MayHaveAcknowledged,
    IReadOnlyList<string> KeptAside
);
