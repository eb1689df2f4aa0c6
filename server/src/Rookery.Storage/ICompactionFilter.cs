namespace Rookery.Storage;

/// <summary>
/// Says which rows are stale by what other rows say (an index row of a version that was replaced). A dropped row must
/// be one that every reader would recognise as stale by itself: dropping it early, late or never changes no answer.
/// </summary>
public interface ICompactionFilter
{
    /// <summary>
    /// Whether rows of <paramref name="table"/> may be stale at all; asked once per compaction, so that other groups
    /// pay nothing.
    /// </summary>
    bool Concerns(byte table);

    /// <summary>Whether the row may be dropped. Called on the background thread.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="sequence">Its sequence.</param>
    /// <param name="value">Its value; empty for a large one.</param>
    /// <param name="snapshot">What is durable, and what is being flushed, to look other rows up. Later rows are not in
    /// it.</param>
    bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot);
}
