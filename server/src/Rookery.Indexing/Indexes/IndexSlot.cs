using Rookery.Documents.Databases;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// What a name stands for on this node: the index that answers, and the one that is built to take its place. Immutable:
/// readers see one state or the next.
/// </summary>
/// <param name="Serving">Answers queries.</param>
/// <param name="Replacement">Is built by the newest definition; null when that one serves.</param>
public sealed record IndexSlot(RunningIndex Serving, RunningIndex? Replacement)
{
    /// <summary>Both, or the one.</summary>
    public IEnumerable<RunningIndex> All => Replacement is null ? [Serving] : [Serving, Replacement];

    /// <summary>By the newest definition.</summary>
    public RunningIndex Newest => Replacement ?? Serving;

    /// <summary>
    /// Whether it stopped at too many errors, and nobody has mended it or is about to, as far as the log says.
    /// </summary>
    internal bool StaysStopped(Database database)
    {
        if (!All.All(static index => index is { HasStopped: true, IsResetAsked: false }))
        {
            return false;
        }

        using var reader = database.OpenReader();
        return reader.FindIndex(Newest.Record.Name)?.Number == Newest.Record.Number;
    }
}
