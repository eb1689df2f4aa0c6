namespace Rookery.Platform.Tests;

/// <summary>The node's memory is divided among shares, each with a limit.</summary>
public sealed class MemoryBudgetTests
{
    [Fact]
    public void A_share_is_bounded_by_its_limit_and_by_the_total()
    {
        var budget = new MemoryBudget(100);
        var cache = budget.AddShare("block cache", limitBytes: 80);
        var memtable = budget.AddShare("memtable", limitBytes: 50);

        Assert.False(cache.TryReserve(81));
        Assert.True(cache.TryReserve(80));
        Assert.False(memtable.TryReserve(21));
        Assert.True(memtable.TryReserve(20));
        Assert.Equal(100, budget.UsedBytes);
        cache.Release(30);
        Assert.True(memtable.TryReserve(30));
        Assert.False(memtable.TryReserve(1));
        Assert.Equal(50, cache.UsedBytes);
        Assert.Equal(50, memtable.UsedBytes);
        Assert.Equal([cache, memtable], budget.Shares);
    }

    [Fact]
    public void A_share_grants_its_assured_bytes_however_much_other_shares_use()
    {
        var budget = new MemoryBudget(100);
        var cache = budget.AddShare("block cache", limitBytes: 100);
        var queries = budget.AddShare("queries", limitBytes: 50, assuredBytes: 10);
        Assert.True(cache.TryReserve(100));
        Assert.True(queries.TryReserve(10));
        Assert.False(queries.TryReserve(1));
        Assert.Equal(110, budget.UsedBytes);
        cache.Release(50);
        Assert.True(queries.TryReserve(40));
        Assert.False(queries.TryReserve(1));
        queries.Release(50);
        Assert.Equal(50, budget.UsedBytes);
    }

    // The share holds `own` bytes and was refused `bytes` more; 10 are assured, and 50 are its limit.
    [Theory]
    [InlineData(0, 10, true)]
    [InlineData(10, 40, true)]
    [InlineData(11, 1, false)]
    [InlineData(10, 41, false)]
    public void A_refusal_is_due_to_other_shares_only_within_the_limit_and_the_assured_bytes(
        long own,
        long bytes,
        bool isOthers
    ) =>
        Assert.Equal(
            isOthers,
            new MemoryBudget(100).AddShare("queries", limitBytes: 50, assuredBytes: 10).IsTakenByOthers(own, bytes)
        );

    [Fact]
    public void Memory_reserved_without_refusal_is_counted_even_above_the_total()
    {
        var budget = new MemoryBudget(100);
        var memtable = budget.AddShare("memtable", limitBytes: 100);
        memtable.Reserve(150);
        Assert.Equal(150, budget.UsedBytes);
        Assert.False(memtable.TryReserve(0));
        memtable.Release(150);
        Assert.True(memtable.TryReserve(100));
    }

    [Fact]
    public void A_budget_within_a_share_is_bounded_by_both_and_counted_in_both()
    {
        var node = new MemoryBudget(100);
        var rows = node.AddShare("index rows", limitBytes: 60);
        var first = new MemoryBudget(50, rows).AddShare("block cache", limitBytes: 50);
        var small = new MemoryBudget(50, rows);
        var second = small.AddShare("block cache", limitBytes: 50);

        Assert.False(first.TryReserve(51));
        Assert.True(first.TryReserve(50));
        Assert.False(second.TryReserve(11));
        Assert.Equal(0, second.UsedBytes);
        Assert.Equal(0, small.UsedBytes); // the refused reservation left nothing
        Assert.True(second.TryReserve(10));
        Assert.Equal(60, rows.UsedBytes);
        second.Reserve(40);
        Assert.Equal(100, node.UsedBytes);
        first.Release(50);
        second.Release(50);
        Assert.Equal(0, small.UsedBytes);
        Assert.Equal(0, rows.UsedBytes);
        Assert.Equal(0, node.UsedBytes);
    }

    [Fact]
    public void Shares_on_the_managed_heap_are_bounded_together()
    {
        var budget = new MemoryBudget(160);
        var queries = budget.AddShare("queries", limitBytes: 40, assuredBytes: 5, isManaged: true);
        var indexing = budget.AddShare("indexing", limitBytes: 40, isManaged: true);
        var memtable = budget.AddShare("memtable", limitBytes: 160);

        // Managed shares may take 50 of 160 bytes.
        Assert.True(queries.TryReserve(40));
        Assert.False(indexing.TryReserve(11));
        Assert.True(indexing.TryReserve(10));
        Assert.True(memtable.TryReserve(110));
        Assert.Equal(50, budget.ManagedBytes);
        queries.Release(40);
        memtable.Reserve(40);
        Assert.False(queries.TryReserve(6));
        Assert.True(queries.TryReserve(5));
        Assert.Equal(15, budget.ManagedBytes); // the refused reservations left nothing
        queries.Release(5);
        indexing.Release(10);
        Assert.Equal((0, 150), (budget.ManagedBytes, budget.UsedBytes));
    }

    [Fact]
    public void Caches_release_the_memory_that_another_share_needs()
    {
        var budget = new MemoryBudget(160);
        var cache = budget.AddShare("block cache", limitBytes: 160);
        cache.AllowYielding(() => cache.UsedBytes, cache.Release);
        var pages = budget.AddShare("index cache", limitBytes: 50, isManaged: true);
        pages.AllowYielding(() => pages.UsedBytes, pages.Release);
        var queries = budget.AddShare("queries", limitBytes: 40, isManaged: true);
        Assert.True(pages.TryReserve(50));
        Assert.True(cache.TryReserve(100));

        // The heap's bound is reached, the total is not.
        Assert.False(queries.TryReserve(10));
        Assert.True(queries.TryReserveFromCaches(10));
        Assert.Equal((100, 40), (cache.UsedBytes, pages.UsedBytes));

        // The total is reached.
        Assert.True(cache.TryReserve(10));
        Assert.True(budget.AddShare("large requests", limitBytes: 40).TryReserveFromCaches(40));
        Assert.Equal(160, budget.UsedBytes);

        // A reservation above the share's own bound makes no cache yield.
        Assert.False(queries.TryReserveFromCaches(31));
        Assert.Equal(160, budget.UsedBytes);
    }

    [Fact]
    public void Caches_of_budgets_within_a_share_release_memory_too()
    {
        var node = new MemoryBudget(100);
        var rows = node.AddShare("index rows", limitBytes: 100);
        var first = new MemoryBudget(60, rows).AddShare("block cache", limitBytes: 60);
        // The first cache keeps 20 bytes, the second none.
        first.AllowYielding(() => first.UsedBytes - 20, bytes => first.Release(Math.Min(bytes, first.UsedBytes - 20)));
        var second = new MemoryBudget(60, rows).AddShare("block cache", limitBytes: 60);
        second.AllowYielding(() => second.UsedBytes, second.Release);
        Assert.True(second.TryReserve(40));
        Assert.True(first.TryReserve(60));

        var queries = node.AddShare("queries", limitBytes: 100);
        Assert.False(queries.TryReserveFromCaches(81));
        Assert.Equal((60, 40), (first.UsedBytes, second.UsedBytes)); // 80 is all that both could yield
        Assert.True(queries.TryReserveFromCaches(30));
        Assert.Equal((30, 40, 100), (first.UsedBytes, second.UsedBytes, node.UsedBytes));
        Assert.True(queries.TryReserveFromCaches(30));
        Assert.Equal((20, 20, 100), (first.UsedBytes, second.UsedBytes, node.UsedBytes));
    }

    // The cache holds 100 and yields 50. Of the total of 160, 160 is used; of the managed heap's 50, 31.
    [Theory]
    [InlineData(50, 50, false, true)]
    [InlineData(51, 100, false, false)]
    [InlineData(20, 100, true, false)]
    public void Caches_release_nothing_if_they_cannot_release_enough(
        long needed,
        long bytesAfter,
        bool isManaged,
        bool isEnough
    )
    {
        var budget = new MemoryBudget(160);
        var cache = budget.AddShare("block cache", limitBytes: 160);
        cache.AllowYielding(() => Math.Max(0, cache.UsedBytes - 50), cache.Release);
        Assert.True(cache.TryReserve(100));
        Assert.True(budget.AddShare("indexing", limitBytes: 60, isManaged: true).TryReserve(31));
        budget.AddShare("memtable", limitBytes: 160).Reserve(29);

        Assert.Equal(
            isEnough,
            budget.AddShare("queries", limitBytes: 60, isManaged: isManaged).TryReserveFromCaches(needed)
        );
        Assert.Equal(bytesAfter, cache.UsedBytes);
    }

    [Fact]
    public void Releasing_more_than_was_reserved_throws()
    {
        var share = new MemoryBudget(100).AddShare("memtable", limitBytes: 100);
        Assert.True(share.TryReserve(10));
        Assert.Throws<InvariantViolationException>(() => share.Release(11));
    }

    [Fact]
    public void Threads_together_never_reserve_more_than_the_total()
    {
        var budget = new MemoryBudget(1000);
        var share = budget.AddShare("buffers", limitBytes: 1000);
        Parallel.For(
            0,
            4,
            worker =>
            {
                var random = new Random(worker);
                for (int i = 0; i < 20_000; i++)
                {
                    int bytes = random.Next(600);
                    if (share.TryReserve(bytes))
                    {
                        Assert.InRange(budget.UsedBytes, bytes, 1000);
                        share.Release(bytes);
                    }
                }
            }
        );
        Assert.Equal(0, budget.UsedBytes);
        Assert.Equal(0, share.UsedBytes);
    }

    /// <summary>The large reservations are refused by the total of the budget, or of an outer share.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Refused_large_reservations_do_not_make_small_ones_fail(bool isNested)
    {
        var outer = new MemoryBudget(160);
        outer.AddShare("memtable", limitBytes: 160).Reserve(120);
        var budget = isNested ? new MemoryBudget(160, outer.AddShare("index rows", limitBytes: 160)) : outer;
        var large = budget.AddShare("large", limitBytes: 160, isManaged: true);
        var small = budget.AddShare("small", limitBytes: 160, isManaged: true);
        bool isOver = false;
        bool wasGranted = false;
        // 40 bytes of the total are free, too few for a large reservation and enough for four small ones.
        var other = new Thread(() =>
        {
            while (!Volatile.Read(ref isOver))
            {
                wasGranted |= large.TryReserve(45);
            }
        });
        other.Start();
        int failed = 0;
        for (int i = 0; i < 1_000_000; i++)
        {
            if (small.TryReserve(10))
            {
                small.Release(10);
            }
            else
            {
                failed++;
            }
        }

        Volatile.Write(ref isOver, true);
        other.Join();
        Assert.Equal((false, 0), (wasGranted, failed));
    }
}
