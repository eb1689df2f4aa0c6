namespace Rookery.Raft.Tests;

/// <summary>The cluster's time follows from the voters' clocks.</summary>
public sealed class ClusterClockTests
{
    // In ticks of clocks.
    private const long Minute = TimeSpan.TicksPerMinute;

    // In microseconds of the monotonic time.
    private const long Second = 1_000_000;
    private static readonly long Noon = new DateTime(2026, 11, 22, 12, 0, 0).Ticks;
    private readonly ClusterClock _clock = new(SafetyRules.Sound);

    [Fact]
    public void The_time_of_a_synchronised_majority_is_adopted_however_far_it_jumps()
    {
        _clock.StartAtLogTime(now: 0, Noon);
        Judge(now: 0, (Noon + (100 * TimeSpan.TicksPerDay), IsSure: true));
        Assert.Equal(new ClockReading(Noon + (100 * TimeSpan.TicksPerDay), IsSure: true), _clock.At(0));
        Judge(now: 0, (Noon, IsSure: true));
        Assert.Equal(new ClockReading(Noon, IsSure: true), _clock.At(0));
    }

    [Theory]
    [InlineData(1970)]
    [InlineData(2080)]
    public void An_unsynchronised_jump_does_not_move_the_time(int year)
    {
        _clock.StartAtLogTime(now: 0, Noon);
        Judge(now: 0, (Year(year), IsSure: false), (Year(year), IsSure: false), (Year(year), IsSure: true));
        Assert.Equal(ClockVerdict.Doubted, _clock.Verdict);
        Assert.Equal(new ClockReading(Noon + TimeSpan.TicksPerSecond, IsSure: false), _clock.At(Second));
    }

    [Theory]
    [InlineData(9, true)]
    [InlineData(11, false)]
    public void An_unsynchronised_clock_moves_the_time_by_at_most_ten_minutes(int minutes, bool isTaken)
    {
        _clock.StartAtLogTime(now: 0, Noon);
        Judge(now: 0, (Noon + (minutes * Minute), IsSure: false));
        Assert.Equal(isTaken, _clock.At(0).IsSure);
        Assert.Equal(isTaken ? Noon + (minutes * Minute) : Noon, _clock.At(0).UtcTicks);
    }

    [Fact]
    public void A_leader_follows_its_own_clock_while_it_is_synchronised_and_within_a_minute_of_the_median()
    {
        Judge(now: 0, (Noon + Minute, IsSure: true), (Noon, IsSure: true), (Noon, IsSure: true));
        Assert.Equal(Noon + Minute, _clock.At(0).UtcTicks);
        Judge(now: 0, (Noon + Minute, IsSure: false), (Noon, IsSure: true), (Noon, IsSure: true));
        Assert.Equal(Noon, _clock.At(0).UtcTicks);
        Judge(now: 0, (Noon + (2 * Minute), IsSure: true), (Noon, IsSure: true), (Noon, IsSure: true));
        Assert.Equal(Noon, _clock.At(0).UtcTicks);
    }

    [Fact]
    public void The_time_stays_unchanged_and_sure_when_synchronised_clocks_differ()
    {
        Judge(now: 0, (Noon, IsSure: true), (Noon, IsSure: true));
        Judge(now: 0, (Noon, IsSure: true), (Year(2080), IsSure: true));
        Assert.Equal(ClockVerdict.Differ, _clock.Verdict);
        Assert.Equal(new ClockReading(Noon, IsSure: true), _clock.At(0));
        Judge(now: 0, (Year(1970), IsSure: true), (Noon, IsSure: true));
        Assert.Equal(new ClockReading(Noon, IsSure: true), _clock.At(0));
    }

    [Fact]
    public void Clocks_of_less_than_a_majority_do_not_move_the_time()
    {
        _clock.Judge(0, null, new (long, bool)[] { (Noon, true) }, majority: 2);
        Assert.Equal(default, _clock.At(0));
        Assert.Equal(ClockVerdict.Unknown, _clock.Verdict);
    }

    [Theory]
    [InlineData(1970, false)]
    [InlineData(2027, true)]
    [InlineData(2080, false)]
    public void A_cluster_without_a_known_time_accepts_only_a_plausible_time(int year, bool isBelieved)
    {
        Judge(now: 0, (Year(year), IsSure: false));
        Assert.Equal(
            isBelieved
                ? new ClockReading(Year(year), IsSure: true)
                : new ClockReading(ClusterClock.EarliestTicks, IsSure: false),
            _clock.At(0)
        );
    }

    [Fact]
    public void Time_is_not_steady_across_a_jump_ahead()
    {
        _clock.StartAtLogTime(now: 0, Noon);
        Judge(now: 0, (Noon + Minute, IsSure: false));
        Assert.Equal(Noon, _clock.SteadySinceTicks);
        Judge(now: 0, (Noon + (60 * Minute), IsSure: true));
        Assert.Equal(Noon + (60 * Minute), _clock.SteadySinceTicks);
        Judge(now: 0, (Noon, IsSure: true));
        Assert.Equal(Noon + (60 * Minute), _clock.SteadySinceTicks);
    }

    [Fact]
    public void A_follower_adopts_the_leaders_time()
    {
        _clock.AdoptLeaderTime(now: 0, reading: default);
        Assert.Equal(default, _clock.At(0));
        _clock.AdoptLeaderTime(now: 0, new ClockReading(Noon, IsSure: true));
        Assert.Equal(new ClockReading(Noon + (60 * TimeSpan.TicksPerSecond), IsSure: true), _clock.At(60 * Second));
        _clock.AdoptLeaderTime(60 * Second, new ClockReading(Noon + TimeSpan.TicksPerDay, IsSure: false));
        Assert.Equal((Noon + TimeSpan.TicksPerDay, false), (_clock.SteadySinceTicks, _clock.IsSure));
        _clock.StartAtLogTime(60 * Second, Noon);
        Assert.Equal(Noon + TimeSpan.TicksPerDay, _clock.At(60 * Second).UtcTicks);
    }

    // Returns the ticks of 1 June of a year.
    private static long Year(int year) => new DateTime(year, 6, 1).Ticks;

    /// <summary>Judges the clocks of all voters; the first is the node's own.</summary>
    private void Judge(long now, params (long Ticks, bool IsSure)[] clocks)
    {
        var differences = Array.ConvertAll(clocks, read => (ClusterClock.DifferenceOf(read.Ticks, now), read.IsSure));
        _clock.Judge(now, differences[0], differences, (clocks.Length / 2) + 1);
    }
}
