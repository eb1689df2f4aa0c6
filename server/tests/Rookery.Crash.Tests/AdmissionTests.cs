using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>The admission of commands and requests to memory: at once, after a wait, or not at all.</summary>
public sealed class AdmissionTests
{
    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public async Task One_command_alone_is_admitted_however_large_and_the_next_waits_for_room()
    {
        var admission = CreateAdmissionOf100BytesWith(1000);
        Assert.False(admission.TryEnter(1));
        var next = admission.EnterAsync(bytes: 1, CancellationToken.None);
        Assert.False(next.IsCompleted);
        admission.Leave(1000);
        Assert.True(await next);
        Assert.Equal(1, admission.Bytes);
    }

    [Fact]
    public async Task Commands_are_admitted_in_order_of_arrival_whatever_their_size()
    {
        var admission = CreateAdmissionOf100BytesWith(90);
        var large = admission.EnterAsync(bytes: 60, CancellationToken.None);
        var small = admission.EnterAsync(bytes: 5, CancellationToken.None);
        Assert.False(admission.TryEnter(5));
        Assert.False(large.IsCompleted || small.IsCompleted);
        admission.Leave(90);
        Assert.True(await large);
        Assert.True(await small);
        Assert.Equal(65, admission.Bytes);
    }

    [Fact]
    public async Task A_command_that_gets_no_memory_in_time_is_refused()
    {
        var admission = CreateAdmissionOf100BytesWith(100);
        var late = admission.EnterAsync(bytes: 1, CancellationToken.None);
        _time.Advance(Admission.WaitTimeout);
        Assert.False(await late);
        Assert.Equal((100, 1), (admission.Bytes, admission.Refused));
        admission.Leave(100);
        Assert.True(admission.TryEnter(100));
    }

    [Fact]
    public async Task A_cancelled_wait_takes_no_memory()
    {
        var admission = CreateAdmissionOf100BytesWith(100);
        using var cancellation = new CancellationTokenSource();
        var waiting = admission.EnterAsync(bytes: 1, cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await waiting);
        admission.Leave(100);
        Assert.Equal(0, admission.Bytes);
    }

    [Fact]
    public async Task A_longer_wait_keeps_its_place_while_others_are_refused()
    {
        var admission = CreateAdmissionOf100BytesWith(100);
        var patient = admission.EnterAsync(bytes: 60, heldBytes: 0, 10 * Admission.WaitTimeout, CancellationToken.None);
        var other = admission.EnterAsync(bytes: 60, CancellationToken.None);
        _time.Advance(Admission.WaitTimeout);
        Assert.False(await other);
        var last = admission.EnterAsync(bytes: 60, CancellationToken.None);
        admission.Leave(100);
        Assert.True(await patient);
        Assert.False(last.IsCompleted);
        _time.Advance(Admission.WaitTimeout);
        Assert.False(await last);
    }

    [Fact]
    public async Task The_only_admitted_command_gets_more_memory_however_much_it_needs()
    {
        var admission = CreateAdmissionOf100BytesWith(90);
        var more = admission.EnterAsync(bytes: 1000, heldBytes: 40, Admission.WaitTimeout, CancellationToken.None);
        Assert.False(more.IsCompleted);
        admission.Leave(50);
        Assert.True(await more);
        Assert.Equal(1040, admission.Bytes);
    }

    [Fact]
    public void A_request_besides_others_is_not_admitted_while_the_budget_is_full()
    {
        var budget = new MemoryBudget(100);
        var memtable = budget.AddShare("memtable", limitBytes: 100);
        var large = budget.AddShare("large requests", limitBytes: 50);
        var admission = new Admission(limitBytes: 50, _time, large);
        memtable.Reserve(90);
        Assert.True(admission.TryEnter(20)); // alone
        Assert.False(admission.TryEnter(5));
        Assert.Equal(20, large.UsedBytes);
        memtable.Release(30);
        Assert.True(admission.TryEnter(5));
        Assert.False(admission.TryEnter(30));
        Assert.Equal((25, 25), (admission.Bytes, large.UsedBytes));
        admission.Leave(25);
        Assert.Equal(0, large.UsedBytes);
    }

    [Fact]
    public async Task A_waiting_request_is_admitted_when_another_share_releases_memory()
    {
        var budget = new MemoryBudget(100);
        var memtable = budget.AddShare("memtable", limitBytes: 100);
        var admission = new Admission(limitBytes: 50, _time, budget.AddShare("large requests", limitBytes: 50));
        Assert.True(admission.TryEnter(10));
        memtable.Reserve(90);
        var waiting = admission.EnterAsync(bytes: 20, CancellationToken.None).AsTask();
        _time.Advance(Admission.WaitTimeout / 2);
        Assert.False(waiting.IsCompleted);
        memtable.Release(90);
        // The release is noticed before the wait ends.
        _time.Advance(Admission.WaitTimeout / 4);
        Assert.Equal(30, admission.Bytes);
        Assert.True(await waiting);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Caches_release_memory_for_a_single_request_above_the_limit_of_its_share(bool isWaiting)
    {
        var budget = new MemoryBudget(100);
        var cache = budget.AddShare("block cache", limitBytes: 100);
        cache.AllowYielding(() => cache.UsedBytes, cache.Release);
        var admission = new Admission(limitBytes: 50, _time, budget.AddShare("large requests", limitBytes: 50));
        Assert.True(!isWaiting || admission.TryEnter(5));
        Assert.True(cache.TryReserve(90));
        // The share allows 50 bytes, and the cache leaves 10 of the budget's 100.
        var entered = admission.EnterAsync(bytes: 60, CancellationToken.None);
        admission.Leave(isWaiting ? 5 : 0);
        Assert.True(await entered);
        Assert.Equal((40, 100), (cache.UsedBytes, budget.UsedBytes));
    }

    [Fact]
    public async Task Requests_queue_while_a_cache_releases_memory()
    {
        var budget = new MemoryBudget(100);
        var cache = budget.AddShare("block cache", limitBytes: 100);
        var admission = new Admission(limitBytes: 50, _time, budget.AddShare("large requests", limitBytes: 50));
        bool? hasQueued = null;
        cache.AllowYielding(
            () => cache.UsedBytes,
            bytes =>
            {
                // While the cache yields for the first time, another request must be able to queue.
                if (hasQueued is null)
                {
                    hasQueued = false;
                    var other = new Thread(() => _ = admission.EnterAsync(bytes: 50, CancellationToken.None).AsTask());
                    other.Start();
                    hasQueued = other.Join(TimeSpan.FromSeconds(30));
                }

                cache.Release(bytes);
            }
        );
        Assert.True(admission.TryEnter(30));
        var waiting = admission.EnterAsync(bytes: 30, CancellationToken.None);
        Assert.True(cache.TryReserve(70));
        admission.Leave(15);
        Assert.True(await waiting);
        Assert.True(hasQueued);
    }

    /// <summary>Returns an admission with room for 100 bytes, of which a command of this size was admitted.</summary>
    private Admission CreateAdmissionOf100BytesWith(int bytes)
    {
        var admission = new Admission(limitBytes: 100, _time);
        Assert.True(admission.TryEnter(bytes));
        return admission;
    }
}
