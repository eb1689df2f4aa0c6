using Microsoft.Extensions.Logging;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>The log lines that clients cause: a burst, then one in three minutes.</summary>
public class LimitedLogTests
{
    [Fact]
    public void Lines_beyond_the_rate_are_dropped_counted_and_reported()
    {
        var time = new SimulatedTimeProvider();
        var log = new RecordedLog();
        var limited = new LimitedLog(log, time);
        for (int i = 0; i < 1000; i++)
        {
            limited.LogError("fault {Number}", i);
        }

        Assert.Equal(LimitedLog.Burst, log.Lines.Count);
        Assert.Equal(1000 - LimitedLog.Burst, limited.DroppedLines);

        // One line is logged, after a report of the lines that were dropped before.
        time.Advance(TimeSpan.FromMinutes(3));
        limited.LogError("another");
        limited.LogError("and another");
        Assert.Equal(LimitedLog.Burst + 2, log.Lines.Count);
        Assert.StartsWith(
            $"{1000 - LimitedLog.Burst} lines about requests were omitted",
            log.Lines.ElementAt(LimitedLog.Burst),
            StringComparison.Ordinal
        );

        // A long time without lines permits no more than one burst.
        time.Advance(TimeSpan.FromDays(30));
        for (int i = 0; i < 1000; i++)
        {
            limited.LogError("fault {Number}", i);
        }

        // Two bursts, the line in between, and two reports.
        Assert.Equal((2 * LimitedLog.Burst) + 3, log.Lines.Count);
    }
}
