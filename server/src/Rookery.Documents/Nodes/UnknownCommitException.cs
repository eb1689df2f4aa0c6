namespace Rookery.Documents.Nodes;

/// <summary>
/// The node is one of several, and stopped: which entries of its journal behind its tables were committed, only a
/// majority that runs can say.
/// </summary>
/// <param name="tables">The last entry that its tables hold.</param>
/// <param name="journal">The last entry of its journal.</param>
public sealed class UnknownCommitException(long tables, long journal)
    : IOException(
        $"This node is a member of a cluster. Its tables hold the entries through {tables}; of those to "
            + $"{journal}, in its journal, it does not know which a majority has. Ask a member that runs, with "
            + $"--url; `rookery export` takes all of them."
    )
{
    /// <summary>The last entry that its tables hold.</summary>
    public long LastInTables => tables;

    /// <summary>The last entry of its journal.</summary>
    public long LastInJournal => journal;
}
