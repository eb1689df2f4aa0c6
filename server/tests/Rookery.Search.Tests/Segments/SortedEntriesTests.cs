using Rookery.Platform;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Tests.Segments;

public sealed class SortedEntriesTests
{
    private const int LimitBytes = 4096;

    private readonly MemoryShare _share = new MemoryBudget(1 << 20).AddShare("pages", LimitBytes);
    private readonly SegmentCache _cache;
    private readonly SortedEntries _sorted;

    public SortedEntriesTests()
    {
        _cache = new SegmentCache(_share);
        _sorted = new SortedEntries(_cache);
    }

    [Fact]
    public void An_order_is_wanted_from_the_second_request_on()
    {
        Assert.False(_sorted.TryFind(Key(1), out _, out bool isWanted));
        Assert.False(isWanted);
        Assert.False(_sorted.TryFind(Key(1), out _, out isWanted));
        Assert.True(isWanted);
        _sorted.Keep(Key(1), [3, 1, 2]);
        Assert.True(_sorted.TryFind(Key(1), out var entries, out _));
        Assert.Equal([3, 1, 2], entries.ToArray());
        Assert.False(_sorted.TryFind(Key(2), out _, out isWanted));
        Assert.False(isWanted);
    }

    [Fact]
    public void Orders_take_only_memory_of_the_cache_and_give_it_back()
    {
        for (int term = 0; term < 20; term++)
        {
            _sorted.TryFind(Key(term), out _, out _);
            _sorted.Keep(Key(term), new int[200]);
            Assert.InRange(_share.UsedBytes, 0, LimitBytes);
        }

        Assert.Equal(LimitBytes / 800 * 800, _share.UsedBytes);
        _cache.Trim();
        Assert.Equal(0, _share.UsedBytes);
        Assert.False(_sorted.TryFind(Key(19), out _, out bool isWanted));
        Assert.True(isWanted);
    }

    [Fact]
    public void An_order_larger_than_the_cache_is_not_kept()
    {
        _sorted.TryFind(Key(1), out _, out _);
        _sorted.Keep(Key(1), new int[LimitBytes]);
        Assert.False(_sorted.TryFind(Key(1), out _, out _));
        Assert.Equal(0, _share.UsedBytes);
    }

    [Fact]
    public void The_number_of_known_orders_is_bounded()
    {
        for (int term = 0; term < 5_000; term++)
        {
            _sorted.TryFind(Key(term), out _, out _);
            _sorted.Keep(Key(term), [term]);
        }

        Assert.InRange(_share.UsedBytes, sizeof(int), 1024 * sizeof(int));
    }

    private static SortedEntriesKey Key(int term) => new(TermField: 1, term, OrderField: 2, Order: 0);
}
