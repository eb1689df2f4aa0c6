using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Server.Tests;

/// <summary>The bytes of the managed heap that are charged to the memory budget.</summary>
public sealed class HeapChargeTests
{
    private const long MiB = 1 << 20;

    private readonly MemoryBudget _memory = new(256 * MiB);
    private readonly HeapCharge _charge;
    private readonly MemoryShare _runtime;
    private long _committedBytes = 10 * MiB;

    public HeapChargeTests()
    {
        _charge = new HeapCharge(_memory, () => _committedBytes);
        _runtime = _memory.Shares.Single();
    }

    /// <summary>
    /// The runtime is charged 36 MiB and what the heap has committed, but at least 36 MiB and an eighth of the budget.
    /// What a managed share has reserved is in the committed heap, so it is not charged again.
    /// </summary>
    [Fact]
    public void The_charge_is_the_heap_above_a_minimum_without_the_bytes_of_managed_shares()
    {
        Assert.Equal((36 + (256 / 8)) * MiB, _runtime.UsedBytes);
        _committedBytes = 100 * MiB;
        _charge.Renew();
        Assert.Equal((36 + 100) * MiB, _runtime.UsedBytes);
        Assert.True(_memory.AddShare("queries", 32 * MiB, isManaged: true).TryReserve(20 * MiB));
        _charge.Renew();
        Assert.Equal((36 + 100) * MiB, _memory.UsedBytes);
        _committedBytes = 10 * MiB;
        _charge.Renew();
        Assert.Equal((36 + (256 / 8)) * MiB, _runtime.UsedBytes);
    }

    [Fact]
    public void A_cache_releases_as_much_as_the_heap_grows()
    {
        var cache = _memory.AddShare("block cache", 256 * MiB);
        cache.AllowYielding(() => cache.UsedBytes, cache.Release);

        // All that the runtime leaves of the budget.
        Assert.True(cache.TryReserve(188 * MiB));
        _committedBytes = 100 * MiB;
        _charge.Renew();
        Assert.Equal((120 * MiB, 256 * MiB), (cache.UsedBytes, _memory.UsedBytes));
    }
}
