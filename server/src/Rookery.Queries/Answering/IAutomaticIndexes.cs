using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;

namespace Rookery.Queries.Answering;

/// <summary>Makes the indexes that queries need, and learns which are used. Thread-safe.</summary>
public interface IAutomaticIndexes
{
    /// <summary>A query is answered from an index.</summary>
    void NoteUse(Database database, string name);

    /// <summary>Has an index defined on all members.</summary>
    /// <param name="database">Whose documents it is of.</param>
    /// <param name="definition">What it holds.</param>
    /// <returns>Why it was not; null when it is.</returns>
    Task<Rejection?> DefineAsync(Database database, IAutoDefinition definition);
}
