namespace Rookery.Storage.Runs;

/// <summary>
/// Iterates over rows in key order. A new cursor has no position; a seek sets the direction of <see cref="Move"/>. One
/// thread at a time. <see cref="Key"/> and <see cref="Value"/> are valid until the next seek, move or dispose.
/// </summary>
/// <remarks>
/// A seek or move returns false at the end or at damage. <see cref="Damage"/> is set at damage; the rows that follow
/// are then unknown.
/// </remarks>
internal interface IRowCursor : IDisposable
{
    /// <summary>
    /// Moves to the first row whose key is at or after <paramref name="from"/>; later moves go upwards.
    /// </summary>
    bool SeekForward(ReadOnlySpan<byte> from);

    /// <summary>
    /// Moves to the last row whose key is before <paramref name="toExclusive"/> (empty: to the last row); later moves
    /// go downwards.
    /// </summary>
    bool SeekBackward(ReadOnlySpan<byte> toExclusive);

    /// <summary>
    /// Moves to the next row in the direction of the last seek. Call it only after a seek or move that returned true.
    /// </summary>
    bool Move();

    /// <summary>Key of the current row.</summary>
    ReadOnlySpan<byte> Key { get; }

    /// <summary>Etag of the operation that wrote the current row.</summary>
    long Sequence { get; }

    /// <summary>Kind of the current row.</summary>
    RowKind Kind { get; }

    /// <summary>Value of the current row; empty for a tombstone.</summary>
    ReadOnlySpan<byte> Value { get; }

    /// <summary>The damage that ended the cursor; null if there is none.</summary>
    RunDamage? Damage { get; }
}
