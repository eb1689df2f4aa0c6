namespace Rookery.Queries.Execution;

/// <summary>
/// An index was found damaged while an answer was read from it. The index is built again from the documents; until then
/// a scan or another index answers.
/// </summary>
/// <param name="indexName">The index.</param>
/// <param name="damage">The damage found.</param>
public sealed class IndexDamagedException(string indexName, Exception damage)
    : Exception(
        $"The index '{indexName}' turned out to be damaged while it was read, and is built again from the "
            + $"documents, of which none is lost. Ask again.",
        damage
    );
