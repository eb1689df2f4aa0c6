namespace Rookery.Journal;

/// <summary>What opening the journal found and did; for the log and the dashboard.</summary>
/// <param name="Verdict">The case of the recovery table.</param>
/// <param name="Label">The letter of the case, as in docs/explanation/durability.md.</param>
/// <param name="Sentence">What was found, where, and what was done.</param>
/// <param name="MayHaveAcknowledgedThrough">The highest index this store may have acknowledged: above the last index only after <see cref="TailVerdict.RepairFromPeers"/>.</param>
/// <param name="KeptAside">Files set aside because they did not belong or were damaged.</param>
public sealed record JournalRecovery(
    TailVerdict Verdict, char Label, string Sentence, long MayHaveAcknowledgedThrough, IReadOnlyList<string> KeptAside);
