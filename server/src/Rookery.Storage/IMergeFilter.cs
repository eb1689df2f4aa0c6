namespace Rookery.Storage;

/// <summary>
/// Recognises rows that other rows made stale, such as an index row of a replaced version. Every reader must recognise
/// such a row as stale by itself, so that dropping it early, late or never changes no result.
/// </summary>
public interface IMergeFilter
{
    /// <summary>
    /// Returns whether rows of <paramref name="table"/> can be stale at all. Called once per merge, so that other
    /// groups pay nothing.
    /// </summary>
    bool Concerns(byte table);

    /// <summary>Returns whether the row may be dropped. Called on the background thread.</summary>
    /// <param name="key">Key of the row.</param>
    /// <param name="sequence">Sequence of the row.</param>
    /// <param name="value">Value of the row; empty for a large value.</param>
    /// <param name="snapshot">For lookups of other rows: the durable rows and those being flushed, but no later
    /// ones.</param>
    bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot);
}
