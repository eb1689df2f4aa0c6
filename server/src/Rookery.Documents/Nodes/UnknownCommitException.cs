namespace Rookery.Documents.Nodes;

/// <summary>
/// Thrown if the data of a stopped member is opened without the other members. Only a running majority knows which of
/// the entries after the last one in the tables are committed.
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
