using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;

namespace Rookery.Queries.Answering;

/// <summary>Defines the automatic indexes that queries need, and records their use. Thread-safe.</summary>
public interface IAutomaticIndexes
{
    /// <summary>Records that a query uses an index.</summary>
    void RecordUse(Database database, string name);

    /// <summary>
    /// Whether a definition failed a moment ago, for example without a leader. A query that can do without an index
    /// then defines none, and does not wait.
    /// </summary>
    bool HaveFailedLately { get; }

    /// <summary>Records that a definition failed, or takes too long for its query.</summary>
    void RecordFailure();

    /// <summary>Defines an index on all members.</summary>
    /// <param name="database">The database to index.</param>
    /// <param name="definition">The definition of the index.</param>
    /// <returns>Null if the index is defined; otherwise the reason why it was refused.</returns>
    Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition);
}
