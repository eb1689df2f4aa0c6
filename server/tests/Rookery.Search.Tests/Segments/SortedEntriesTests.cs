using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Tests.Segments;

/// <summary>The orders of a term's entries that are kept in memory, so that a query need not sort again.</summary>
public sealed class SortedEntriesTests
{
    private const int LimitBytes = 16 << 10;
    private const int EntriesOfOrder = 200;
    private const int OrderBytes = EntriesOfOrder * sizeof(int);

    private readonly MemoryShare _share = new MemoryBudget(1 << 20).AddShare("pages", LimitBytes);
    private readonly SegmentCache _cache;
    private readonly SortedEntries _sorted;

    public SortedEntriesTests()
    {
        _cache = new SegmentCache(_share);
        _sorted = new SortedEntries(_cache);
    }

    [Fact]
    public void Only_the_second_request_of_a_key_sorts()
    {
        Assert.False(_sorted.TryFind(KeyOf(term: 1), out _, out bool shouldSort));
        Assert.False(shouldSort);
        Assert.False(_sorted.TryFind(KeyOf(term: 1), out _, out shouldSort));
        Assert.True(shouldSort);
        Assert.False(_sorted.TryFind(KeyOf(term: 1), out _, out shouldSort)); // while the second caller sorts
        Assert.False(shouldSort);
        _sorted.Keep(KeyOf(term: 1), BytesOf(3, 1, 2));
        Assert.True(_sorted.TryFind(KeyOf(term: 1), out var entries, out _));
        Assert.Equal([3, 1, 2], entries.ToArray());
        Assert.False(_sorted.TryFind(KeyOf(term: 2), out _, out shouldSort));
        Assert.False(shouldSort);
    }

    [Fact]
    public void Orders_use_only_memory_of_the_cache_and_release_it()
    {
        for (int term = 0; term < 40; term++)
        {
            RequestTwice(term);
            _sorted.Keep(KeyOf(term), new byte[OrderBytes]);
            Assert.InRange(_share.UsedBytes, 0, LimitBytes);
        }

        _cache.Trim();
        Assert.InRange(_share.UsedBytes, 0, 40 * SortedEntries.KeyBytes);
        _sorted.Clear();
        Assert.Equal(0, _share.UsedBytes);
    }

    [Fact]
    public void An_order_that_the_cache_refuses_is_seldom_sorted_again()
    {
        RequestTwice(term: 1);
        _sorted.Keep(KeyOf(term: 1), new byte[LimitBytes + 4]);
        int sorts = 0;
        for (int request = 0; request < 640; request++)
        {
            Assert.False(_sorted.TryFind(KeyOf(term: 1), out _, out bool shouldSort));
            sorts += shouldSort ? 1 : 0;
        }

        Assert.Equal(10, sorts); // one of 64 requests
        Assert.Equal(SortedEntries.KeyBytes, _share.UsedBytes);
    }

    [Fact]
    public void A_new_key_replaces_a_key_without_an_order_never_a_stored_order()
    {
        var share = new MemoryBudget(64 << 20).AddShare("pages", 8 << 20);
        var sorted = new SortedEntries(new SegmentCache(share));
        sorted.TryFind(KeyOf(term: 1), out _, out _);
        sorted.TryFind(KeyOf(term: 1), out _, out _);
        sorted.Keep(KeyOf(term: 1), BytesOf(7));
        for (int term = 2; term < 5 * SortedEntries.MaxKeys; term++)
        {
            sorted.TryFind(KeyOf(term), out _, out _);
        }

        Assert.True(sorted.TryFind(KeyOf(term: 1), out _, out _));
        Assert.Equal((SortedEntries.MaxKeys * SortedEntries.KeyBytes) + sizeof(int), share.UsedBytes);
    }

    private void RequestTwice(int term)
    {
        _sorted.TryFind(KeyOf(term), out _, out _);
        _sorted.TryFind(KeyOf(term), out _, out _);
    }

    private static byte[] BytesOf(params ReadOnlySpan<int> entries) => MemoryMarshal.AsBytes(entries).ToArray();

    private static SortedEntriesKey KeyOf(int term) => new(TermField: 1, term, OrderField: 2, Order: 0);
}
