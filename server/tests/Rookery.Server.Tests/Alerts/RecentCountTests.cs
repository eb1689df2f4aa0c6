using Rookery.Server.Alerts;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Alerts;

public sealed class RecentCountTests
{
    [Fact]
    public void Growth_counts_for_five_minutes()
    {
        var time = new SimulatedTimeProvider();
        var count = new RecentCount(time);
        Assert.Equal(3, count.Add(3)); // of the first seconds of the process
        time.Advance(TimeSpan.FromMinutes(4));
        Assert.Equal(5, count.Add(5));
        time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(2, count.Add(5));
        time.Advance(TimeSpan.FromMinutes(4));
        Assert.Equal(0, count.Add(5));
    }
}
