using Rookery.Search.Segments.Format;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// The storage of one index on this node's disk. Changes are buffered in memory until <see cref="Apply"/> makes them
/// durable and visible to queries. Only one thread at a time may change it.
/// </summary>
public interface IIndexStore : IDisposable
{
    /// <summary>
    /// The stored position of the index: the etag through which documents are indexed durably; 0 at first. After a
    /// restart the index is fed the documents after it.
    /// </summary>
    long Watermark { get; }

    /// <summary>Whether the durable state is empty.</summary>
    bool IsEmpty { get; }

    /// <summary>Number of documents in the durable state.</summary>
    long Documents { get; }

    /// <summary>
    /// Memory of changes that are not applied yet, in bytes; 0 for none. <see cref="long.MaxValue"/> if memory is short
    /// and they should be applied at once.
    /// </summary>
    long PendingBytes { get; }

    /// <summary>Replaces the entries of a document.</summary>
    /// <param name="lowerId">The document's id in lower case; in a map/reduce index the key of a group.</param>
    /// <param name="etag">The document's etag; for a group the last etag that it includes.</param>
    /// <param name="entry">The entries.</param>
    void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry);

    /// <summary>Removes a document's entries, if it has any.</summary>
    void Delete(ReadOnlySpan<byte> lowerId);

    /// <summary>Makes the changes durable and visible.</summary>
    /// <param name="watermark">The new <see cref="Watermark"/>: the etag through which documents are indexed after this
    /// call.</param>
    /// <exception cref="Rookery.Platform.DiskException">A disk operation failed. The changes are kept and can be
    /// applied again.</exception>
    /// <exception cref="SegmentDamagedException">The durable state cannot be read. The index must be built
    /// again.</exception>
    void Apply(long watermark);

    /// <summary>Returns a snapshot of the durable state. Thread-safe.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed, because another replaces it or the node
    /// stops.</exception>
    IndexSnapshot OpenSnapshot();

    /// <summary>
    /// Whether so many segments wait for a merge that merge steps should be done before more documents are fed. Each
    /// open segment takes memory, and time of each query.
    /// </summary>
    bool NeedsMerge => false;

    /// <summary>Does one step of the background merge.</summary>
    /// <returns>Whether there was work to do.</returns>
    bool MergeOnce();

    /// <summary>Releases memory that was not used since the last call. Called about every 30 seconds.</summary>
    void TrimIdle();
}
