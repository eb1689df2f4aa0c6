namespace Rookery.Cluster.Tests;

/// <summary>The 99th percentile of the last journal writes.</summary>
public sealed class SyncTimesTests
{
    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 1)]
    [InlineData(2, 2)]
    [InlineData(99, 99)]
    [InlineData(100, 99)]
    [InlineData(101, 100)]
    [InlineData(128, 127)]
    [InlineData(200, 199)]
    public void The_percentile_is_that_of_the_nearest_rank(int writes, long expected)
    {
        var times = new SyncTimes();
        for (int microseconds = 1; microseconds <= writes; microseconds++)
        {
            times.Add(microseconds);
        }

        Assert.Equal(expected, times.Percentile99());
    }
}
