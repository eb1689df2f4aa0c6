namespace Rookery.Queries.Execution;

/// <summary>
/// Thrown if an index is found damaged while an answer is read from it. The index is then built again from the
/// documents. Until the rebuild ends, a scan or another index answers.
/// </summary>
/// <param name="indexName">The index.</param>
/// <param name="damage">The damage found.</param>
public sealed class IndexDamagedException(string indexName, Exception damage)
    : Exception(
        $"The index '{indexName}' turned out to be damaged while it was read. This node builds it again from the "
            + $"documents, and no document is lost. Retry the query.",
        damage
    );
