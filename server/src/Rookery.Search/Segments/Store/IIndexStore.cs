using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// What one index keeps on this node's disk. Changes gather in memory until they are applied; then they are durable,
/// and queries see them. Changed by one thread at a time.
/// </summary>
public interface IIndexStore : IDisposable
{
    /// <summary>The etag through which everything durable follows the documents; 0 before anything does.</summary>
    long Watermark { get; }

    /// <summary>Whether nothing durable is held.</summary>
    bool IsEmpty { get; }

    /// <summary>Documents that are held, those that were not applied left out.</summary>
    long Documents { get; }

    /// <summary>
    /// Memory that changes take which were not applied, in bytes; 0 when there are none, and
    /// <see cref="long.MaxValue"/> when memory is so short that they should be applied at once.
    /// </summary>
    long PendingBytes { get; }

    /// <summary>Holds a document, in the place of what was held of it before.</summary>
    /// <param name="lowerId">Its id in lower case; of map/reduce the key of a group.</param>
    /// <param name="etag">Its etag; of a group the last one that it follows.</param>
    /// <param name="entry">What is held of it.</param>
    void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry);

    /// <summary>Holds a document no more; it need not be held.</summary>
    void Delete(ReadOnlySpan<byte> lowerId);

    /// <summary>Makes the changes durable and seen.</summary>
    /// <param name="watermark">The etag through which they follow the documents.</param>
    /// <exception cref="Rookery.Platform.DiskException">The disk refused: they are as before, and may be applied
    /// again.</exception>
    /// <exception cref="SegmentDamagedException">What is durable cannot be read: the index is to be built
    /// again.</exception>
    void Apply(long watermark);

    /// <summary>What is durable and seen now. From any thread.</summary>
    /// <exception cref="ObjectDisposedException">It was closed, because another takes its place or the node
    /// stops.</exception>
    IndexSnapshot OpenSnapshot();

    /// <summary>Does one piece of the work that keeps what is durable small and quick.</summary>
    /// <returns>Whether there was any.</returns>
    bool MergeOnce();

    /// <summary>
    /// Gives memory of its own back that nobody asked for since the last call: about every half minute.
    /// </summary>
    void TrimIdle();
}
