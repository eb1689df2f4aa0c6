namespace Rookery.Queries.Scanning;

/// <summary>A result with its sort key, kept until all results are found.</summary>
internal sealed class ScanHit
{
    /// <summary>Estimated memory of one hit, without the arrays.</summary>
    public const int BaseBytes = 168;

    public required byte[] SortKey { get; init; }

    /// <summary>
    /// Orders hits with equal keys. It is the number of earlier results; for an index entry, the document's etag.
    /// </summary>
    public required long Ordinal { get; init; }

    public required long Etag { get; init; }

    public required byte[] Id { get; init; }

    /// <summary>Its index entry, if an index found it.</summary>
    public FoundEntry Entry { get; init; }

    /// <summary>The row of a group, or of an index; null for a document.</summary>
    public byte[]? Row { get; init; }

    /// <summary>Its score; 0 if the query does not score.</summary>
    public double Score { get; init; }

    /// <summary>A hash of the result, for <c>select distinct</c>.</summary>
    public UInt128 ContentHash { get; init; }

    /// <summary>Whether it matches <c>filter</c>.</summary>
    public bool Passes { get; init; }

    /// <summary>Estimated memory, in bytes.</summary>
    public int Bytes => BaseBytes + SortKey.Length + Id.Length + (Row?.Length ?? 0);
}
