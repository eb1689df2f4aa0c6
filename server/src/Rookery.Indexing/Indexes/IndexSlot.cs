using Rookery.Documents.Databases;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The indexes of one name on this node: the one that serves queries and its replacement, if one is being built.
/// Immutable, so readers see a consistent pair.
/// </summary>
/// <param name="Serving">The index that serves queries.</param>
/// <param name="Replacement">The index of the newest definition while it is being built; null if the serving index has
/// that definition.</param>
public sealed record IndexSlot(RunningIndex Serving, RunningIndex? Replacement)
{
    /// <summary>The serving index, followed by the replacement if there is one.</summary>
    public IEnumerable<RunningIndex> All => Replacement is null ? [Serving] : [Serving, Replacement];

    /// <summary>The index of the newest definition.</summary>
    public RunningIndex Newest => Replacement ?? Serving;

    /// <summary>
    /// Returns whether no index of the slot can advance: all stopped after too many errors, no reset is requested, and
    /// the log contains no newer definition.
    /// </summary>
    internal bool StaysStopped(Database database)
    {
        if (!All.All(static index => index is { HasStopped: true, IsResetRequested: false }))
        {
            return false;
        }

        using var reader = database.OpenReader();
        return reader.FindIndex(Newest.Record.Name)?.Number == Newest.Record.Number;
    }
}
