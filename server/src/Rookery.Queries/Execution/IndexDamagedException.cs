namespace Rookery.Queries.Execution;

/// <summary>
/// Thrown if an index is found damaged while an answer is read from it. The index is then built again from the
/// documents. Until that ends, a scan or another index answers.
/// </summary>
/// <param name="indexName">The index.</param>
/// <param name="damage">The damage found.</param>
public sealed class IndexDamagedException(string indexName, Exception damage)
    : Exception(
        $"The index '{indexName}' turned out to be damaged while it was read, and is built again from the "
            + $"documents, of which none is lost. Ask again.",
        damage
    );
