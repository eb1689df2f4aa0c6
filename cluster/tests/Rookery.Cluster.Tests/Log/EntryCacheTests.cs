using Rookery.Cluster.Log;
using Rookery.Journal;

namespace Rookery.Cluster.Tests.Log;

/// <summary>The newest entries in memory, from which followers are served.</summary>
public sealed class EntryCacheTests
{
    [Fact]
    public void Entries_without_payload_are_released_too()
    {
        var cache = new EntryCache();
        Fill(cache, entries: 100, payloadBytes: 0);
        cache.ReleaseThrough(90, bytesToKeep: 0);
        Assert.Equal((91, 100), (cache.FirstIndex, cache.LastIndex));
    }

    [Fact]
    public void Small_entries_take_more_memory_than_their_payload()
    {
        var cache = new EntryCache();
        Fill(cache, entries: 10_000, payloadBytes: 10);
        cache.ReleaseThrough(10_000, bytesToKeep: 100_000);
        // By their payloads alone, all 10,000 would fit.
        Assert.InRange(cache.LastIndex - cache.FirstIndex, 1, 1_000);
        cache.TruncateAfter(0);
        Assert.Equal(0, cache.Bytes);
    }

    /// <summary>The apply thread uses an entry while the journal thread drops it from a full cache.</summary>
    [Fact]
    public void A_retained_entry_keeps_its_payload_when_the_cache_drops_it()
    {
        var cache = new EntryCache();
        Fill(cache, entries: 2, payloadBytes: 10);
        Assert.True(cache.TryGet(1, out var applied));
        applied.Retain();
        cache.ReleaseUnawaitedThrough(1, bytesToKeep: 0);
        Assert.Equal((2, 10), (cache.FirstIndex, applied.Frame.Payload.Length));
        cache.Release(applied);
        Assert.Equal(0, applied.Frame.Payload.Length);
        Assert.Same(applied, cache.Rent());
    }

    private static void Fill(EntryCache cache, int entries, int payloadBytes)
    {
        for (int index = 1; index <= entries; index++)
        {
            var entry = cache.Rent();
            entry.CopyFrom(
                new JournalFrame(FrameType.Batch, index, Term: 1, index - 1, OperationCount: 1, new byte[payloadBytes])
            );
            cache.Append(entry);
        }
    }
}
