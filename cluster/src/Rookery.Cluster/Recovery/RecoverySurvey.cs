using Rookery.Journal;

namespace Rookery.Cluster.Recovery;

/// <summary>
/// The result of <see cref="ClusterRecovery.SurveyAsync"/>: the accessible stores, and what a recovery of this node may
/// lose.
/// </summary>
/// <param name="Own">The store that would be recovered.</param>
/// <param name="Others">The other accessible stores: the named data directories and the running members.</param>
/// <param name="Voters">The number of voters; 0 when the store does not know it.</param>
/// <param name="OutOfReach">The names of the voters whose stores are not accessible.</param>
/// <param name="Refusal">Why this node must not be recovered, in sentences; null when the operator may decide.</param>
public sealed record RecoverySurvey(
    SurveyedStore Own,
    IReadOnlyList<SurveyedStore> Others,
    int Voters,
    IReadOnlyList<string> OutOfReach,
    string? Refusal
)
{
    /// <summary>The possible losses, one sentence each.</summary>
    public IEnumerable<string> Losses
    {
        get
        {
            string written = Own.LastWritten is { } at
                ? $", the last of them written at {at:yyyy-MM-dd HH:mm:ss} UTC"
                : string.Empty;
            string held = $"it holds the entries through {Own.Last.Index} (term {Own.Last.Term}){written}";
            yield return $"What other members acknowledged and {Own.Name} had not received is lost: {held}.";
            if (Own.Damage is not null)
            {
                yield return Own.Damage;
            }

            foreach (var old in Others.Prepend(Own).Select(static store => store.OldCopy).OfType<string>())
            {
                yield return old;
            }

            if (OutOfReach.Count > 0)
            {
                string unseen = string.Join(", ", OutOfReach);
                yield return $"Nothing was seen of {unseen}: entries that only they hold are lost, "
                    + "and cannot be counted here.";
            }
        }
    }
}

/// <summary>One accessible store: its member, the end of its log, and its damage.</summary>
/// <param name="Name">The name of the member that owns the store.</param>
/// <param name="Place">The data directory, or the address of the running member.</param>
/// <param name="Last">The last entry of the store.</param>
/// <param name="LastWritten">When the last entry was written, by the cluster's clock; null when unknown.</param>
/// <param name="Damage">The unreadable part of its journal, in a sentence; null when all is readable.</param>
/// <param name="IsRunning">Whether its node is running.</param>
public sealed record SurveyedStore(
    string Name,
    string Place,
    JournalPosition Last,
    DateTimeOffset? LastWritten,
    string? Damage,
    bool IsRunning
)
{
    /// <summary>
    /// Why members would refuse the store's node as an old copy, in a sentence; null when they would not.
    /// </summary>
    public string? OldCopy { get; init; }

    /// <summary>Whether the store's tables contain the rows that every start reads.</summary>
    public bool CanStart { get; init; } = true;

    /// <summary>Whether this store's log is more up to date than the other's (Raft thesis, 3.6.1).</summary>
    public bool IsAheadOf(SurveyedStore other) =>
        (Last.Term, Last.Index).CompareTo((other.Last.Term, other.Last.Index)) > 0;
}
