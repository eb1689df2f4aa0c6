using Rookery.Journal;

namespace Rookery.Cluster.Recovery;

/// <summary>
/// What is left of a cluster, as far as it can be seen from the node that is to be recovered, and what a recovery there
/// may lose.
/// </summary>
/// <param name="Own">The store that would be recovered.</param>
/// <param name="Others">The other stores in reach: data directories that were named, and members that run.</param>
/// <param name="Voters">How many members vote; 0 when the store does not know.</param>
/// <param name="OutOfReach">The voters of which nothing was seen.</param>
/// <param name="Refusal">Why nothing is to be recovered here, in sentences; null when the owner may decide.</param>
public sealed record RecoverySurvey(
    SurveyedStore Own,
    IReadOnlyList<SurveyedStore> Others,
    int Voters,
    IReadOnlyList<string> OutOfReach,
    string? Refusal
)
{
    /// <summary>What may be lost, a sentence each.</summary>
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

/// <summary>How far the log of one store reaches.</summary>
/// <param name="Name">The member whose it is.</param>
/// <param name="Place">The data directory, or the address at which the member runs.</param>
/// <param name="Last">The last entry that it holds.</param>
/// <param name="LastWritten">When the last write in it was made, by the cluster's clock; null when that is not
/// known.</param>
/// <param name="Damage">What of its journal cannot be read, in a sentence; null for nothing.</param>
/// <param name="IsRunning">Whether its node runs.</param>
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
    /// Why members would not let its node in if it were started, in a sentence; null when they would.
    /// </summary>
    public string? OldCopy { get; init; }

    /// <summary>Whether its tables have what each start reads.</summary>
    public bool CanStart { get; init; } = true;

    /// <summary>Whether it holds more than another: Raft's own order of logs (Ongaro, 3.6.1).</summary>
    public bool IsAheadOf(SurveyedStore other) =>
        (Last.Term, Last.Index).CompareTo((other.Last.Term, other.Last.Index)) > 0;
}
