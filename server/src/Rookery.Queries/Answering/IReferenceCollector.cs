namespace Rookery.Queries.Answering;

/// <summary>Collects the ids of documents to include, which results refer to.</summary>
public interface IReferenceCollector
{
    /// <summary>Adds the ids that a result refers to.</summary>
    /// <param name="members">The result's members as JSON, without braces.</param>
    void Collect(ReadOnlySpan<byte> members);

    /// <summary>Adds one id.</summary>
    void Include(ReadOnlySpan<byte> id);
}
