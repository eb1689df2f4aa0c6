namespace Rookery.Storage;

/// <summary>One source of a merge.</summary>
/// <param name="Rows">Its rows, at most one per key (a memtable's cursor shows the newest version that its snapshot may see).</param>
/// <param name="RangeTombstones">Its range tombstones; they hide rows of the other sources. Rows that its own tombstones hide it does not show.</param>
internal readonly record struct MergeSource(IRowCursor Rows, RangeTombstoneSet RangeTombstones);

/// <summary>Which rows a merge shows.</summary>
internal enum MergedRows
{
    /// <summary>Rows that exist: no tombstones. For readers.</summary>
    Live,

    /// <summary>Also tombstones, which must go on hiding rows of runs outside this merge. For compaction.</summary>
    LiveAndTombstones,
}

/// <summary>
/// Several sources as one: of each key the row with the highest sequence, unless a range tombstone of another source hides it.
/// No allocation per row. Damage in any source ends the walk at once, because what the other sources say may be outdated by it.
/// </summary>
internal sealed class MergingCursor : IRowCursor
{
    /// <summary>Merges <paramref name="sources"/>, newest first (of equal sequences the first is shown). Disposes their cursors with itself.</summary>
    public MergingCursor(IReadOnlyList<MergeSource> sources, MergedRows shown) => throw new NotSupportedException();

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
