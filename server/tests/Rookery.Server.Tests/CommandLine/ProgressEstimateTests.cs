using Rookery.Terminal;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The pace of a long command, and the time that is left.</summary>
public sealed class ProgressEstimateTests
{
    private readonly ManualTime _time = new();

    [Fact]
    public void Pace_and_remaining_time_follow_the_last_seconds()
    {
        var estimate = new ProgressEstimate(_time) { Total = 10_000 };
        AdvanceAndReport(estimate, seconds: 30, perSecond: 10);
        AdvanceAndReport(estimate, seconds: 30, perSecond: 100);
        Assert.Equal(3300, estimate.Done);
        Assert.Equal(100, estimate.PerSecond, 1.0);
        Assert.Equal(67, estimate.Left!.Value.TotalSeconds, 2.0);
        Assert.Equal(0.33, estimate.Share!.Value, 0.001);
    }

    [Fact]
    public void Earlier_progress_does_not_affect_the_pace()
    {
        var estimate = new ProgressEstimate(_time) { Total = 2000 };
        estimate.BeginAt(1000);
        AdvanceAndReport(estimate, seconds: 10, perSecond: 10);
        Assert.Equal(10, estimate.PerSecond, 0.5);
        Assert.Equal(90, estimate.Left!.Value.TotalSeconds, 5.0);
    }

    [Fact]
    public void There_is_no_estimate_without_progress_or_total()
    {
        var estimate = new ProgressEstimate(_time);
        Assert.Null(estimate.Left);
        Assert.Null(estimate.Share);
        AdvanceAndReport(estimate, seconds: 5, perSecond: 1);
        Assert.Null(estimate.Left);
        Assert.Equal(0, new ProgressEstimate(_time) { Total = 5 }.PerSecond);
        Assert.Null(new ProgressEstimate(_time) { Total = 5 }.Left);
    }

    // Reports progress twice a second.
    private void AdvanceAndReport(ProgressEstimate estimate, int seconds, int perSecond)
    {
        for (int step = 0; step < seconds * 2; step++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(500));
            estimate.Report(estimate.Done + (perSecond / 2.0));
        }
    }

    /// <summary>A clock that the test advances.</summary>
    private sealed class ManualTime : TimeProvider
    {
        private long _ticks;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _ticks;

        public void Advance(TimeSpan time) => _ticks += time.Ticks;
    }
}
