namespace Rookery.Queries.Scanning;

/// <summary>A result that is written at the end, and what it is sorted by.</summary>
internal sealed class ScanHit
{
    /// <summary>Objects and references of one.</summary>
    public const int BaseBytes = 168;

    public required byte[] SortKey { get; init; }

    /// <summary>Its place among equal ones: results that came before it, or its etag.</summary>
    public required long Ordinal { get; init; }

    public required long Etag { get; init; }

    public required byte[] Id { get; init; }

    /// <summary>Where an index holds it.</summary>
    public FoundEntry Place { get; init; }

    /// <summary>The row of a group.</summary>
    public byte[]? Row { get; init; }

    /// <summary>How relevant it is.</summary>
    public double Score { get; init; }

    /// <summary>What makes it distinct.</summary>
    public UInt128 Content { get; init; }

    /// <summary>Whether it satisfies <c>filter</c>.</summary>
    public bool Passes { get; init; }

    /// <summary>Memory that it takes.</summary>
    public int Bytes => BaseBytes + SortKey.Length + Id.Length + (Row?.Length ?? 0);
}
