namespace Rookery.Storage.Runs;

/// <summary>
/// A walk over rows in key order. Made with no position; a seek chooses the direction that <see cref="Move"/> goes on
/// in. One thread at a time. What <see cref="Key"/> and <see cref="Value"/> give is valid until the next seek, move or
/// dispose.
/// </summary>
/// <remarks>
/// A seek or move that returns false has come to the end, or met damage: then <see cref="Damage"/> says so, and what
/// follows is unknown.
/// </remarks>
internal interface IRowCursor : IDisposable
{
    /// <summary>
    /// Goes to the first row whose key is at or after <paramref name="from"/>; later moves go upwards.
    /// </summary>
    bool SeekForward(ReadOnlySpan<byte> from);

    /// <summary>
    /// Goes to the last row whose key is before <paramref name="toExclusive"/> (empty: to the very last row); later
    /// moves go downwards.
    /// </summary>
    bool SeekBackward(ReadOnlySpan<byte> toExclusive);

    /// <summary>
    /// Goes to the next row in the direction of the last seek. Only after a seek or move that returned true.
    /// </summary>
    bool Move();

    /// <summary>The whole key of the current row.</summary>
    ReadOnlySpan<byte> Key { get; }

    /// <summary>The etag of the operation that wrote the current row.</summary>
    long Sequence { get; }

    /// <summary>What the current row says.</summary>
    RowKind Kind { get; }

    /// <summary>The value; empty for a tombstone.</summary>
    ReadOnlySpan<byte> Value { get; }

    /// <summary>The damage that ended the walk; null while there is none.</summary>
    RunDamage? Damage { get; }
}
