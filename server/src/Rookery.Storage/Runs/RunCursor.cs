namespace Rookery.Storage;

/// <summary>Walks the rows of one run, tombstones included. No allocation per row.</summary>
internal sealed class RunCursor : IRowCursor
{
    /// <inheritdoc/>
    public ReadOnlySpan<byte> Key => throw new NotSupportedException();

    /// <inheritdoc/>
    public long Sequence => throw new NotSupportedException();

    /// <inheritdoc/>
    public RowKind Kind => throw new NotSupportedException();

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Value => throw new NotSupportedException();

    /// <inheritdoc/>
    public RunDamage? Damage => throw new NotSupportedException();

    /// <inheritdoc/>
    public bool SeekForward(ReadOnlySpan<byte> from) => throw new NotSupportedException();

    /// <inheritdoc/>
    public bool SeekBackward(ReadOnlySpan<byte> toExclusive) => throw new NotSupportedException();

    /// <inheritdoc/>
    public bool Move() => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotSupportedException();
}
