namespace Rookery.Storage;

/// <summary>What a look into one run found.</summary>
internal enum RunLookup : byte
{
    /// <summary>The run has no row of this key. Its range tombstones may still cover it.</summary>
    Absent,

    /// <summary>There is a row.</summary>
    Found,

    /// <summary>The block that would hold it cannot be trusted: the answer is unknown.</summary>
    Damaged,
}

/// <summary>A row of a run. Keeps its block in memory until disposed; dispose exactly once.</summary>
internal readonly struct RunRow : IDisposable
{
    /// <summary>The etag of the operation that wrote it.</summary>
    public long Sequence => throw new NotSupportedException();

    /// <summary>What it says.</summary>
    public RowKind Kind => throw new NotSupportedException();

    /// <summary>The value, in memory that is valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Value => throw new NotSupportedException();

    /// <summary>Lets go of the block. Nothing happens for a default value.</summary>
    public void Dispose() => throw new NotSupportedException();
}
