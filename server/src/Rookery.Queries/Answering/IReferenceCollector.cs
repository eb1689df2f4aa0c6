namespace Rookery.Queries.Answering;

/// <summary>Collects the ids that results refer to.</summary>
public interface IReferenceCollector
{
    /// <summary>Adds the ids that a result refers to.</summary>
    /// <param name="members">Its members, without braces.</param>
    void Collect(ReadOnlySpan<byte> members);
}
