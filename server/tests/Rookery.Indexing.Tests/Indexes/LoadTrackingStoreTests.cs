using System.Globalization;
using Rookery.Indexing.Indexes;
using Rookery.Search.Segments.Store;
using static Rookery.Fixtures.Utf8Text;

namespace Rookery.Indexing.Tests.Indexes;

public sealed class LoadTrackingStoreTests
{
    /// <summary>
    /// Documents with few fields may load many others. The memory of a pass is bounded by its pending bytes.
    /// </summary>
    [Fact]
    public void Loads_that_are_not_applied_yet_count_as_pending()
    {
        const int Documents = 100;
        const int Loads = 50;
        using var store = new LoadTrackingStore(new EmptyStore(), new EmptyStore());
        var entry = new IndexEntry();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int document = 0; document < Documents; document++)
        {
            entry.Clear();
            for (int load = 0; load < Loads; load++)
            {
                string id = ((document * 7) + load).ToString("companies/0", CultureInfo.InvariantCulture);
                entry.AddLoaded(Bytes(id), isElsewhere: false);
            }

            store.Put(Bytes($"orders/{document}"), etag: document + 1, entry);
        }

        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.InRange(store.PendingBytes, Documents * Loads * 40, allocated);
        store.Apply(watermark: Documents);
        Assert.Equal(0, store.PendingBytes);
    }

    private sealed class EmptyStore : IIndexStore
    {
        public long Watermark => 0;

        public bool IsEmpty => true;

        public long Documents => 0;

        public long PendingBytes => 0;

        public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry) { }

        public void Delete(ReadOnlySpan<byte> lowerId) { }

        public void Apply(long watermark) { }

        public IndexSnapshot OpenSnapshot() => throw new NotSupportedException();

        public bool MergeOnce() => false;

        public void TrimIdle() { }

        public void Dispose() { }
    }
}
