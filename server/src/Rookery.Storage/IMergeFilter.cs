namespace Rookery.Storage;

/// <summary>
/// Tells a merge which rows other rows made stale, for example the index row of a replaced document version. Readers
/// must also skip stale rows themselves, so results do not depend on when a merge drops them.
/// </summary>
public interface IMergeFilter
{
    /// <summary>
    /// Returns whether rows of <paramref name="table"/> can be stale. Called for each row of a merge;
    /// <see cref="IsStale"/> is called only for rows of such tables.
    /// </summary>
    bool Concerns(byte table);

    /// <summary>Returns whether the row may be dropped. Called on the background thread.</summary>
    /// <param name="key">Key of the row.</param>
    /// <param name="sequence">Sequence of the row.</param>
    /// <param name="value">Value of the row; empty for a large value.</param>
    /// <param name="snapshot">For lookups of other rows. Contains the durable rows and those being flushed, but no
    /// later rows.</param>
    bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot);
}
