using System.Collections.Concurrent;

namespace Rookery.Platform.Tests;

/// <summary>The clock that lets timers fire together, tested in real time.</summary>
public sealed class CoalescingClockTests
{
    /// <summary>The clock fires at multiples of this.</summary>
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(20);

    private readonly CoalescingClock _clock = new(Step);

    [Fact]
    public async Task Timers_of_different_phase_fire_on_threads_of_the_clock()
    {
        var firings = new BlockingCollection<(int Timer, string? Thread)>();
        await using var first = Create(() => firings.Add((1, Thread.CurrentThread.Name)), Step, 2 * Step);
        await using var second = Create(() => firings.Add((2, Thread.CurrentThread.Name)), 1.5 * Step, 2 * Step);
        var seen = await TakeAsync(firings, count: 8);
        Assert.Equal([1, 2], seen.Select(static one => one.Timer).Distinct().Order());
        Assert.All(seen, static one => Assert.Equal("clock", one.Thread));
    }

    /// <summary>Timers that fire at the same instant wake the process once.</summary>
    [Fact]
    public void Times_within_one_step_fire_at_the_same_instant()
    {
        Assert.Equal(2 * Step, _clock.InstantOf(1.2 * Step));
        Assert.Equal(2 * Step, _clock.InstantOf(1.7 * Step));
        Assert.Equal(2 * Step, _clock.InstantOf(2 * Step));
        Assert.Equal(3 * Step, _clock.InstantOf(2.1 * Step));
    }

    [Fact]
    public async Task A_callback_that_hangs_stops_no_other_timer_and_is_not_called_again()
    {
        using var release = new ManualResetEventSlim();
        int hanging = 0;
        var firings = new BlockingCollection<int>();
        await using var stuck = Create(
            () =>
            {
                Interlocked.Increment(ref hanging);
                release.Wait();
            },
            Step,
            Step
        );
        await using var other = Create(() => firings.Add(1), Step, Step);
        var seen = await TakeAsync(firings, count: 20);
        release.Set();
        Assert.Equal(20, seen.Count);
        Assert.Equal(1, Volatile.Read(ref hanging));
    }

    [Fact]
    public async Task Two_callbacks_that_hang_stop_no_other_timer()
    {
        using var release = new ManualResetEventSlim();
        int hanging = 0;
        var firings = new BlockingCollection<int>();
        await using var first = Create(Hang, Step, Step);
        await using var second = Create(Hang, Step, Step);
        await using var other = Create(() => firings.Add(1), Step, Step);
        var seen = await TakeAsync(firings, 20);
        release.Set();
        Assert.Equal(20, seen.Count);
        Assert.Equal(2, Volatile.Read(ref hanging));

        void Hang()
        {
            Interlocked.Increment(ref hanging);
            release.Wait();
        }
    }

    [Fact]
    public async Task A_single_firing_that_is_due_while_the_callback_runs_comes_after_it()
    {
        var firings = new BlockingCollection<int>();
        ITimer? timer = null;
        int calls = 0;
        var created = new TaskCompletionSource();
        using var steps = new SemaphoreSlim(0);
        await using var pace = Create(
            () =>
            {
                firings.Add(0);
                steps.Release();
            },
            Step,
            Step
        );
        timer = Create(
            () =>
            {
                created.Task.Wait();
                calls++;
                firings.Add(calls);
                if (calls == 1)
                {
                    Assert.True(timer!.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan));

                    // The firing becomes due while this runs.
                    for (int i = 0; i < 5; i++)
                    {
                        steps.Wait();
                    }
                }
            },
            Step,
            Step
        );
        created.SetResult();
        await using var owned = timer;
        // Reads until the second firing, at most 500 firings, most of which are those of the pacing timer.
        var seen = await Task.Run(() =>
        {
            var taken = new List<int>();
            while (taken.Count < 500 && !taken.Contains(2) && firings.TryTake(out int firing, TimeSpan.FromSeconds(30)))
            {
                taken.Add(firing);
            }

            return taken;
        });
        Assert.Equal([1, 2], seen.Where(static firing => firing > 0));
    }

    [Fact]
    public void A_wait_that_is_too_long_for_the_runtime_is_shortened()
    {
        Assert.Equal(int.MaxValue, CoalescingClock.MillisecondsOf(TimeSpan.FromDays(30)));
        Assert.Equal(int.MaxValue, CoalescingClock.MillisecondsOf(TimeSpan.MaxValue));
        Assert.Equal(2, CoalescingClock.MillisecondsOf(TimeSpan.FromMilliseconds(1.5)));
    }

    [Fact]
    public async Task A_timer_fires_again_after_a_callback_that_took_longer_than_its_period()
    {
        var firings = new BlockingCollection<int>();
        using var release = new SemaphoreSlim(0);
        await using var slow = Create(
            () =>
            {
                firings.Add(1);
                release.Wait();
            },
            Step,
            Step
        );
        // Each call of the slow callback lasts about five of its periods.
        await using var pace = Create(() => release.Release(), 5 * Step, 5 * Step);
        var seen = await TakeAsync(firings, count: 4);
        release.Release(1000); // lets all later calls end
        Assert.Equal(4, seen.Count);
    }

    [Fact]
    public async Task Disposal_of_a_timer_completes_when_its_callback_has_ended()
    {
        using var begun = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        bool hasEnded = false;
        var timer = Create(
            () =>
            {
                begun.Set();
                release.Wait();
                Volatile.Write(ref hasEnded, true);
            },
            Step,
            Step
        );
        await Task.Run(begun.Wait);
        var disposal = timer.DisposeAsync();
        Assert.False(disposal.IsCompleted);
        release.Set();
        await disposal;
        Assert.True(Volatile.Read(ref hasEnded));
        Assert.False(timer.Change(Step, Step));
    }

    [Fact]
    public async Task A_disposed_timer_does_not_fire()
    {
        int fired = 0;
        var firings = new BlockingCollection<int>();
        Create(() => Interlocked.Increment(ref fired), 5 * Step, 5 * Step).Dispose();
        await using var other = Create(() => firings.Add(1), Step, Step);
        Assert.Equal(20, (await TakeAsync(firings, count: 20)).Count);
        Assert.Equal(0, fired);
    }

    [Fact]
    public async Task A_changed_timer_fires_by_its_new_times()
    {
        var firings = new BlockingCollection<int>();
        await using var timer = Create(() => firings.Add(1), TimeSpan.FromDays(1), 10 * Step);
        Assert.True(timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan));
        Assert.Single(await TakeAsync(firings, count: 1));
        Assert.True(timer.Change(TimeSpan.Zero, Step));
        Assert.Equal(3, (await TakeAsync(firings, count: 3)).Count);
        Assert.True(timer.Change(Timeout.InfiniteTimeSpan, Step));
        Assert.Throws<ArgumentOutOfRangeException>(() => timer.Change(TimeSpan.FromSeconds(-2), Step));
    }

    /// <summary>Timeouts, and timers with other periods than the clock's, fire on threads of the pool.</summary>
    [Fact]
    public async Task Timers_that_fire_once_or_with_other_periods_are_timers_of_the_runtime()
    {
        var firings = new BlockingCollection<bool>();
        await using var single = Create(Add, TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        await using var fast = Create(Add, TimeSpan.Zero, Step / 2);
        await using var slow = Create(Add, TimeSpan.Zero, _clock.LongestPeriod + Step);
        Assert.Equal([true, true, true], await TakeAsync(firings, count: 3));
        void Add() => firings.Add(Thread.CurrentThread.IsThreadPoolThread);
    }

    private ITimer Create(Action callback, TimeSpan due, TimeSpan period) =>
        _clock.CreateTimer(static run => ((Action)run!)(), callback, due, period);

    /// <summary>Returns the next firings; fewer if none comes for 30 s.</summary>
    private static Task<List<T>> TakeAsync<T>(BlockingCollection<T> firings, int count) =>
        Task.Run(() =>
        {
            var taken = new List<T>();
            while (taken.Count < count && firings.TryTake(out var firing, TimeSpan.FromSeconds(30)))
            {
                taken.Add(firing);
            }

            return taken;
        });
}
