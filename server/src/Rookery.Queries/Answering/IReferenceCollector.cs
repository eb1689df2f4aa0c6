namespace Rookery.Queries.Answering;

/// <summary>
/// Collects the ids of documents, or the keys of compare-exchange values, that an answer includes because its results
/// refer to them.
/// </summary>
public interface IReferenceCollector
{
    /// <summary>Adds the ids or keys that a result refers to.</summary>
    /// <param name="members">The result's members as JSON, without braces.</param>
    void Collect(ReadOnlySpan<byte> members);

    /// <summary>Adds one id or key, for example one that a script includes.</summary>
    void Include(ReadOnlySpan<byte> id);
}
