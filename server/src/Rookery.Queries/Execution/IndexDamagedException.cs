namespace Rookery.Queries.Execution;

/// <summary>
/// What an index holds turned out to be damaged while an answer was read from it. It is built again; until then its
/// documents answer, or others that hold them.
/// </summary>
/// <param name="indexName">The index.</param>
/// <param name="damage">What was found.</param>
public sealed class IndexDamagedException(string indexName, Exception damage)
    : Exception(
        $"The index '{indexName}' turned out to be damaged while it was read, and is built again from the "
            + $"documents, of which none is lost. Ask again.",
        damage
    );
