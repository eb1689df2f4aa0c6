using Rookery.Simulation;

namespace Rookery.Storage.Tests;

public sealed class DutyCyclePacerTests
{
    [Theory]
    [InlineData(1.0, 0)]
    [InlineData(0.5, 10)]
    [InlineData(0.25, 30)]
    [InlineData(0.1, 90)]
    [InlineData(0.0, 190)]
    public void Work_pauses_in_proportion_to_its_share(double share, int milliseconds)
    {
        using var pacer = new DutyCyclePacer(new SimulatedTimeProvider()) { Share = share };
        Assert.Equal(milliseconds, pacer.RestAfter(TimeSpan.FromMilliseconds(10)).TotalMilliseconds, tolerance: 0.01);
        Assert.Equal(share <= 0, pacer.IsPaused);
    }

    [Fact]
    public void No_pause_exceeds_two_seconds()
    {
        using var pacer = new DutyCyclePacer(new SimulatedTimeProvider()) { Share = 0 };
        Assert.Equal(TimeSpan.FromSeconds(2), pacer.RestAfter(TimeSpan.FromMinutes(1)));
    }
}
