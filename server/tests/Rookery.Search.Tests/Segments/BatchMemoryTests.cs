using System.Text;
using Rookery.Fixtures;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Segments;

/// <summary>The memory that is reserved while a batch of documents is written.</summary>
public sealed class BatchMemoryTests
{
    private const string Folder = "/data/index";

    [Fact]
    public void Writing_a_batch_reserves_memory_for_its_terms_and_releases_it()
    {
        const int Terms = 10_000;
        const int LeastBytesPerTerm = 16;
        var share = new MemoryBudget(64 << 20).AddShare("batches", limitBytes: 64 << 20);
        var recorder = new ShareRecorder(share);
        var context = StoreContents.ContextOf(new SimulatedDisk("/data", Folder)) with { Share = share, Io = recorder };
        using var store = SegmentStore.Open(context, Folder);
        var entry = new IndexEntry();
        string rest = new('x', 100); // so that the terms are written before the end of the batch
        for (int term = 0; term < Terms; term++)
        {
            entry.Add(0, Encoding.UTF8.GetBytes($"{term} {rest}"));
        }

        entry.EndEntry();
        store.Put("d/1"u8, etag: 1, entry);
        long before = share.UsedBytes;
        store.Apply(watermark: 0);
        Assert.InRange(recorder.MaxUsedBytes - before, Terms * LeastBytesPerTerm, long.MaxValue);
        store.TrimIdle();
        Assert.Equal(0, share.UsedBytes);
    }

    /// <summary>Reads how many bytes of a share are reserved at each disk operation.</summary>
    private sealed class ShareRecorder(MemoryShare share) : IIoRecorder
    {
        public long MaxUsedBytes { get; private set; }

        public long Begin()
        {
            MaxUsedBytes = Math.Max(MaxUsedBytes, share.UsedBytes);
            return 0;
        }

        public void Record(IoKind kind, long begun, long bytes) { }
    }
}
