using Rookery.Hosting;
using Rookery.Simulation;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The longest time that the stop of a node may take.</summary>
public sealed class StopDeadlineTests
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RecordedLog _log = new();
    private readonly List<int> _exitCodes = [];

    [Fact]
    public void An_overdue_stop_logs_what_it_waits_for_and_ends_the_process()
    {
        using var deadline = new StopDeadline(_log, _time, _exitCodes.Add);
        deadline.Awaited = "The journal";
        _time.Advance(StopDeadline.StopTimeout - TimeSpan.FromSeconds(1));
        Assert.Empty(_exitCodes);
        _time.Advance(TimeSpan.FromSeconds(1));
        // The process ends with code 1.
        Assert.Equal([1], _exitCodes);
        Assert.StartsWith(
            "The journal did not end within 60 s of the stop",
            Assert.Single(_log.Lines),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_stop_that_ended_in_time_is_not_reported()
    {
        new StopDeadline(_log, _time, _exitCodes.Add).Dispose();
        _time.Advance(2 * StopDeadline.StopTimeout);
        Assert.Empty(_exitCodes);
        Assert.Empty(_log.Lines);
    }
}
