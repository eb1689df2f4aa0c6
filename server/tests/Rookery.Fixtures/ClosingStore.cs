using Rookery.Search.Segments.Store;

namespace Rookery.Fixtures;

/// <summary>A store of an index that calls <paramref name="closing"/> before it is closed.</summary>
/// <param name="inner">The store.</param>
/// <param name="closing">Called at the beginning of Dispose.</param>
public sealed class ClosingStore(IIndexStore inner, Action closing) : IIndexStore
{
    public long Watermark => inner.Watermark;

    public bool IsEmpty => inner.IsEmpty;

    public long Documents => inner.Documents;

    public long PendingBytes => inner.PendingBytes;

    public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry) => inner.Put(lowerId, etag, entry);

    public void Delete(ReadOnlySpan<byte> lowerId) => inner.Delete(lowerId);

    public void Apply(long watermark) => inner.Apply(watermark);

    public IndexSnapshot OpenSnapshot() => inner.OpenSnapshot();

    public bool MergeOnce() => inner.MergeOnce();

    public void TrimIdle() => inner.TrimIdle();

    public void Dispose()
    {
        closing();
        inner.Dispose();
    }
}
