using Rookery.Terminal;

namespace Rookery.Server.Tests.CommandLine;

public sealed class ProgressEstimateTests
{
    private readonly HandTime _time = new();

    [Fact]
    public void Pace_and_remaining_time_follow_the_last_seconds()
    {
        var estimate = new ProgressEstimate(_time) { Total = 10_000 };
        Work(estimate, seconds: 30, perSecond: 10);
        Work(estimate, seconds: 30, perSecond: 100);
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
        Work(estimate, seconds: 10, perSecond: 10);
        Assert.Equal(10, estimate.PerSecond, 0.5);
        Assert.Equal(90, estimate.Left!.Value.TotalSeconds, 5.0);
    }

    [Fact]
    public void There_is_no_estimate_without_progress_or_total()
    {
        var estimate = new ProgressEstimate(_time);
        Assert.Null(estimate.Left);
        Assert.Null(estimate.Share);
        Work(estimate, seconds: 5, perSecond: 1);
        Assert.Null(estimate.Left);
        Assert.Equal(0, new ProgressEstimate(_time) { Total = 5 }.PerSecond);
        Assert.Null(new ProgressEstimate(_time) { Total = 5 }.Left);
    }

    private void Work(ProgressEstimate estimate, int seconds, int perSecond)
    {
        for (int step = 0; step < seconds * 2; step++)
        {
            _time.Pass(TimeSpan.FromMilliseconds(500));
            estimate.Report(estimate.Done + (perSecond / 2.0));
        }
    }

    private sealed class HandTime : TimeProvider
    {
        private long _ticks;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _ticks;

        public void Pass(TimeSpan time) => _ticks += time.Ticks;
    }
}
