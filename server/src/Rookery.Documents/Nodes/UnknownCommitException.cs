namespace Rookery.Documents.Nodes;

/// <summary>
/// Thrown if an export of a stopped member would need the entries after its last applied entry. Only a running majority
/// knows which of them are committed.
/// </summary>
/// <param name="tables">Index of the last entry that the tables contain.</param>
/// <param name="journal">Index of the last entry in the journal.</param>
public sealed class UnknownCommitException(long tables, long journal)
    : IOException(
        $"This node is a member of a cluster. Its tables hold the entries through {tables}. Its journal holds "
            + $"later ones through {journal}, and it does not know which of these a majority has. Ask a running "
            + $"member, with --url. `rookery export` includes all of these entries, committed or not."
    )
{
    /// <summary>Index of the last entry that the tables contain.</summary>
    public long LastInTables => tables;

    /// <summary>Index of the last entry in the journal.</summary>
    public long LastInJournal => journal;
}
