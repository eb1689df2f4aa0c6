using Rookery.Simulation;

namespace Rookery.Platform.Tests;

/// <summary>
/// The record of disk operations: single events, sums of seconds (roll-ups), slow events and slow syncs.
/// </summary>
public sealed class IoTimelineTests
{
    // Events that a timeline keeps.
    private const int Capacity = 8192;
    private readonly SimulatedTimeProvider _clock = new();
    private readonly IoTimeline _timeline;

    public IoTimelineTests() => _timeline = new IoTimeline(_clock, "mmcblk0p2");

    private long NowMicros => (_clock.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;

    private long NowSecond => _clock.GetUtcNow().ToUnixTimeSeconds();

    [Fact]
    public void An_event_has_its_start_duration_and_bytes()
    {
        long start = _clock.GetUtcNow().ToUnixTimeMilliseconds() * 1000;
        RecordOperation(IoKind.JournalWrite, microseconds: 250, bytes: 4096);
        RecordOperation(IoKind.JournalSync, microseconds: 7000, bytes: 0);
        Assert.Equal(
            [
                new IoEvent(IoKind.JournalWrite, start, DurationMicroseconds: 250, Bytes: 4096),
                new IoEvent(IoKind.JournalSync, start + 250, DurationMicroseconds: 7000, Bytes: 0),
            ],
            _timeline.EventsSince(0)
        );
        Assert.Equal(IoKind.JournalSync, Assert.Single(_timeline.EventsSince(start + 250)).Kind);
        Assert.Empty(_timeline.EventsSince(start + 7250));
    }

    [Fact]
    public void The_newest_events_are_kept_and_older_ones_are_dropped()
    {
        for (int i = 0; i < 20_000; i++)
        {
            RecordOperation(IoKind.Read, microseconds: 1, i);
        }

        var newest = _timeline.EventsSince(0);
        Assert.Equal(Capacity, newest.Count);
        Assert.Equal(
            Enumerable.Range(20_000 - Capacity, Capacity).Select(i => (long)i),
            newest.Select(one => one.Bytes)
        );
    }

    [Fact]
    public void Successive_pages_hold_every_event_once()
    {
        var random = new Random(11);
        var events = new List<IoEvent>();
        long since = 0;
        for (int i = 0; i < 2_000; i++)
        {
            RecordOperation((IoKind)random.Next(1, 10), random.Next(3), i);
            if (random.Next(3) == 0)
            {
                var page = _timeline.EventsBetween(since, long.MaxValue);
                Assert.True(events.Count == 0 || page.FromUnixMicroseconds == since);
                events.AddRange(page.Events);
                since = page.UntilUnixMicroseconds;
            }
        }

        _clock.Advance(TimeSpan.FromMicroseconds(1));
        events.AddRange(_timeline.EventsBetween(since, long.MaxValue).Events);
        Assert.Equal(Enumerable.Range(0, 2_000).Select(i => (long)i), events.Select(one => one.Bytes));
    }

    [Fact]
    public void A_page_has_the_time_range_for_which_it_is_complete()
    {
        long begin = NowMicros;
        Assert.Equal(begin - 1, _timeline.EventsBetween(sinceUnixMicroseconds: 0, long.MaxValue).FromUnixMicroseconds);
        for (int i = 0; i < Capacity + 10; i++)
        {
            RecordOperation(IoKind.Read, microseconds: 5, i);
        }

        // Ten events are dropped, and the tenth ended 50 microseconds after the begin.
        Assert.Equal(begin + 50, _timeline.EventsBetween(sinceUnixMicroseconds: 0, long.MaxValue).FromUnixMicroseconds);
        Assert.Equal(begin + 700, _timeline.EventsBetween(begin + 700, long.MaxValue).FromUnixMicroseconds);
    }

    [Fact]
    public void A_page_ends_at_the_requested_time()
    {
        long begin = NowMicros;
        RecordOperation(IoKind.Read, microseconds: 100, bytes: 1);
        RecordOperation(IoKind.Read, microseconds: 100, bytes: 2);
        _clock.Advance(TimeSpan.FromSeconds(1));

        var page = _timeline.EventsBetween(sinceUnixMicroseconds: 0, begin + 199);
        Assert.Equal(1, Assert.Single(page.Events).Bytes);
        Assert.Equal(begin + 199, page.UntilUnixMicroseconds);
    }

    [Fact]
    public void Journal_and_data_have_the_same_device_unless_two_are_given()
    {
        Assert.Equal(("mmcblk0p2", "mmcblk0p2"), (_timeline.JournalDevice, _timeline.DataDevice));
        Assert.Equal("sda1", new IoTimeline(_clock, "mmcblk0p2", "sda1").DataDevice);
    }

    [Fact]
    public void Each_roll_up_equals_the_sum_of_its_second_and_kind()
    {
        var random = new Random(5);
        var expected = new SortedDictionary<(long, IoKind), IoRollUp>();
        long begin = NowSecond;
        for (int i = 0; i < 50_000; i++)
        {
            var kind = (IoKind)random.Next(1, 10);
            long bytes = random.Next(1, 1 << random.Next(1, 30));
            int microseconds = random.Next(100) == 0 ? random.Next(40_000_000) : random.Next(100_000);
            RecordOperation(kind, microseconds, bytes);
            var added = new IoRollUp(NowSecond, kind, Count: 1, bytes, microseconds, microseconds);
            expected[(NowSecond, kind)] = expected.TryGetValue((NowSecond, kind), out var known)
                ? known.Plus(added)
                : added;
        }

        Assert.Equal(expected.Values, _timeline.RollUps(begin, NowSecond + 1));
        Assert.Equal(
            expected.Values.Where(one => one.UnixSecond >= begin + 100 && one.UnixSecond < begin + 200),
            _timeline.RollUps(begin + 100, begin + 200)
        );

        var minutes = _timeline.RollUps(begin, NowSecond + 1, spanSeconds: 60);
        Assert.All(minutes, one => Assert.Equal(0, one.UnixSecond % 60));
        Assert.Equal(minutes.Count, minutes.Select(one => (one.UnixSecond, one.Kind)).Distinct().Count());
        Assert.Equal(50_000, minutes.Sum(one => one.Count));
        Assert.Equal(expected.Values.Sum(one => one.Bytes), minutes.Sum(one => one.Bytes));
        Assert.Equal(50_000, Enum.GetValues<IoKind>().Sum(kind => _timeline.TotalOf(kind).Count));
    }

    [Fact]
    public void Roll_ups_are_kept_for_a_day()
    {
        long begin = NowSecond;
        for (int minute = 0; minute < 48 * 60; minute++)
        {
            RecordOperation(IoKind.Scrub, microseconds: 10, bytes: 1);
            _clock.Advance(TimeSpan.FromSeconds(60) - TimeSpan.FromMicroseconds(10));
        }

        Assert.Equal(24 * 60, _timeline.RollUps(begin, NowSecond).Sum(one => one.Count));
        Assert.All(
            _timeline.RollUps(begin, NowSecond),
            one => Assert.InRange(one.UnixSecond, NowSecond - 86_400, NowSecond)
        );
    }

    [Fact]
    public void Roll_ups_of_a_busy_day_fit_their_memory_and_those_of_an_idle_day_take_none()
    {
        var history = new RollUpHistory(5 * 1024 * 1024);
        Assert.Equal(0, history.TakenBytes);
        // Two days, with four kinds of operations in each second. The first day is gone at the end.
        for (int second = 0; second < 2 * 86_400; second++)
        {
            history.Add(
                new IoRollUp(
                    1_800_000_000 + second,
                    IoKind.JournalWrite,
                    Count: 2_000,
                    Bytes: 2_000_000,
                    TotalMicroseconds: 200_000,
                    MaxMicroseconds: 9_000
                )
            );
            history.Add(
                new IoRollUp(
                    1_800_000_000 + second,
                    IoKind.JournalSync,
                    Count: 2_000,
                    Bytes: 0,
                    TotalMicroseconds: 900_000,
                    MaxMicroseconds: 9_000
                )
            );
            history.Add(
                new IoRollUp(
                    1_800_000_000 + second,
                    IoKind.RunWrite,
                    Count: 20,
                    Bytes: 10_000_000,
                    TotalMicroseconds: 900_000,
                    MaxMicroseconds: 200_000
                )
            );
            history.Add(
                new IoRollUp(
                    1_800_000_000 + second,
                    IoKind.Read,
                    Count: 9_000,
                    Bytes: 150_000_000,
                    TotalMicroseconds: 900_000,
                    MaxMicroseconds: 9_000
                )
            );
        }

        Assert.InRange(history.TakenBytes, 1, 4_200_000);
        Assert.Equal(4 * 86_400, history.TakeSnapshot().Between(1_800_086_400, long.MaxValue).Count());
    }

    [Fact]
    public void The_memory_of_roll_ups_is_bounded_whatever_happens()
    {
        var history = new RollUpHistory(64 * 1024);
        for (int second = 0; second < 86_400; second++)
        {
            history.Add(new IoRollUp(second, IoKind.Read, long.MaxValue, long.MaxValue, long.MaxValue, long.MaxValue));
        }

        Assert.Equal(64 * 1024, history.TakenBytes);
        Assert.Equal(86_399, history.TakeSnapshot().Between(0, long.MaxValue).Last().UnixSecond);
    }

    [Fact]
    public void A_clock_that_is_set_back_loses_no_events()
    {
        var wall = _clock.GetUtcNow();
        RecordOperation(IoKind.Read, microseconds: 10, bytes: 1);
        _clock.SetUtcNow(wall.AddHours(-1));
        RecordOperation(IoKind.Read, microseconds: 10, bytes: 2);
        _clock.SetUtcNow(wall.AddHours(1));
        RecordOperation(IoKind.Read, microseconds: 10, bytes: 4);
        Assert.Equal(7, _timeline.RollUps(fromUnixSecond: 0, long.MaxValue).Sum(one => one.Bytes));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(Capacity + 100)]
    public void Events_after_the_clock_was_set_back_are_returned_at_once(int eventsBefore)
    {
        var wall = _clock.GetUtcNow();
        _clock.SetUtcNow(wall.AddHours(3));
        var timeline = new IoTimeline(_clock, "mmcblk0");
        for (int i = 0; i < eventsBefore; i++)
        {
            RecordReadIn(timeline, bytes: 1000);
        }

        _clock.SetUtcNow(wall);
        long since = NowMicros - 1;
        for (int i = 0; i < 10_000; i++)
        {
            RecordReadIn(timeline, i);
            if (i is 0 or 20 or 9_000)
            {
                _clock.Advance(TimeSpan.FromMicroseconds(1));
                var page = timeline.EventsBetween(since, long.MaxValue);
                Assert.InRange(page.FromUnixMicroseconds, since, page.UntilUnixMicroseconds);
                Assert.Equal(Math.Min(i + 1, Capacity), page.Events.Count);
                Assert.Equal(i, page.Events[^1].Bytes);
            }
        }
    }

    /// <summary>Records a read of 5 microseconds.</summary>
    private void RecordReadIn(IoTimeline timeline, long bytes)
    {
        long begun = timeline.Begin();
        _clock.Advance(TimeSpan.FromMicroseconds(5));
        timeline.Record(IoKind.Read, begun, bytes);
    }

    [Fact]
    public void Events_slower_than_999_of_1000_of_their_kind_are_kept_after_other_events_were_dropped()
    {
        var random = new Random(9);
        for (int i = 0; i < 100_000; i++)
        {
            RecordOperation(IoKind.Read, random.Next(100, 200), bytes: 0);
            // Twenty reads are slow. As many syncs are slower than most reads, but not for syncs.
            if (i % 5000 == 4999)
            {
                RecordOperation(IoKind.Read, 10_000 + i, i);
                RecordOperation(IoKind.JournalSync, microseconds: 900, i);
            }
        }

        var slow = _timeline.SlowEventsSince(sinceUnixMicroseconds: 0);
        long[] reads =
        [
            .. slow.Where(one => one.Kind == IoKind.Read && one.DurationMicroseconds >= 10_000)
                .Select(one => one.Bytes),
        ];
        Assert.Equal(Enumerable.Range(1, 20).Select(i => (i * 5000L) - 1), reads);
        Assert.DoesNotContain(slow, one => one.Kind == IoKind.JournalSync);
        Assert.Equal(20, slow.Count);
        Assert.Equal(slow.OrderBy(one => one.StartUnixMicroseconds), slow);
    }

    [Fact]
    public void Percentiles_are_at_most_an_eighth_too_high_and_adapt_to_new_durations()
    {
        for (int i = 1; i <= 1000; i++)
        {
            RecordOperation(IoKind.Compaction, i * 10, bytes: 0);
        }

        Assert.InRange(_timeline.PercentileMicroseconds(IoKind.Compaction, fraction: 0.5), 5_000, 5_000 * 9 / 8);
        Assert.InRange(_timeline.PercentileMicroseconds(IoKind.Compaction, fraction: 0.999), 9_990, 9_990 * 9 / 8);
        Assert.Equal(0, _timeline.PercentileMicroseconds(IoKind.Backup, fraction: 0.5));

        for (int i = 0; i < 400_000; i++)
        {
            RecordOperation(IoKind.Compaction, microseconds: 20, bytes: 0);
        }

        Assert.InRange(_timeline.PercentileMicroseconds(IoKind.Compaction, fraction: 0.999), 20, 22);
    }

    [Fact]
    public void A_histogram_returns_at_most_an_eighth_more_than_the_duration()
    {
        for (long microseconds = 0; microseconds < 1L << 35; microseconds += 1 + (microseconds / 37))
        {
            var histogram = new DurationHistogram();
            histogram.Add(microseconds);
            Assert.InRange(histogram.Percentile(1), microseconds, microseconds + (microseconds / 8));
        }

        var extreme = new DurationHistogram();
        extreme.Add(long.MaxValue);
        extreme.Add(-1);
        Assert.Equal(0, extreme.Percentile(0.5));
    }

    [Fact]
    public void A_sync_over_a_second_is_reported_with_its_device_and_the_syncs_before()
    {
        var seen = new List<SlowSync>();
        _timeline.SlowSyncSeen = seen.Add;
        for (int i = 1; i <= 40; i++)
        {
            RecordOperation(IoKind.JournalSync, i, bytes: 0);
            RecordOperation(IoKind.Read, microseconds: 2_000_000, bytes: 0);
        }

        RecordOperation(IoKind.JournalSync, microseconds: 1_000_000, bytes: 0);
        Assert.Empty(seen);
        RecordOperation(IoKind.JournalSync, microseconds: 1_000_001, bytes: 0);

        // The report has the sync of a second, and 31 of the 40 before it.
        var slow = Assert.Single(seen);
        Assert.Equal("mmcblk0p2", slow.Device);
        Assert.Equal(1_000_001, slow.Sync.DurationMicroseconds);
        Assert.Equal(
            [.. Enumerable.Range(10, 31).Select(i => (long)i), 1_000_000],
            slow.Before.Select(sync => sync.DurationMicroseconds)
        );
    }

    [Fact]
    public void Threads_may_record_and_read_events_concurrently()
    {
        Parallel.For(
            0,
            4,
            worker =>
            {
                for (int i = 0; i < 20_000; i++)
                {
                    _timeline.Record((IoKind)(1 + (i % 9)), _timeline.Begin(), 1);
                    if (i % 5000 == worker)
                    {
                        _ = _timeline.RollUps(fromUnixSecond: 0, long.MaxValue);
                        _ = _timeline.SlowEventsSince(sinceUnixMicroseconds: 0);
                        _clock.Advance(TimeSpan.FromSeconds(1));
                    }
                }
            }
        );
        Assert.Equal(80_000, _timeline.RollUps(fromUnixSecond: 0, long.MaxValue).Sum(one => one.Bytes));
    }

    /// <summary>Records an operation that takes this long by the clock.</summary>
    private void RecordOperation(IoKind kind, int microseconds, long bytes)
    {
        long begun = _timeline.Begin();
        _clock.Advance(TimeSpan.FromMicroseconds(microseconds));
        _timeline.Record(kind, begun, bytes);
    }
}
