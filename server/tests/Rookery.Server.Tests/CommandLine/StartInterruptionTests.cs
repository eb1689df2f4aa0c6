using System.Runtime.InteropServices;
using Rookery.Hosting;
using Rookery.Simulation;

namespace Rookery.Server.Tests.CommandLine;

public sealed class StartInterruptionTests
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RecordedLog _log = new();
    private readonly List<int> _exits = [];
    private readonly TaskCompletionSource<PosixSignal> _signal = new();

    [Fact]
    public void A_start_that_takes_too_long_after_a_signal_ends_the_process()
    {
        using var interruption = new StartInterruption(_signal.Task, _log, _time, _exits.Add);
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Empty(_exits);
        _signal.SetResult(PosixSignal.SIGTERM);
        _time.Advance(StartInterruption.Grace / 2);
        Assert.Empty(_exits);
        _time.Advance(StartInterruption.Grace / 2);
        Assert.Equal([0], _exits);
    }

    [Fact]
    public void A_signal_after_the_start_ended_does_not_end_the_process()
    {
        var ended = new StartInterruption(_signal.Task, _log, _time, _exits.Add);
        _signal.SetResult(PosixSignal.SIGTERM);
        ended.Dispose();
        _time.Advance(2 * StartInterruption.Grace);
        Assert.Empty(_exits);
        Assert.Empty(_log.Lines);
    }

    [Fact]
    public void A_signal_before_the_start_interrupts_the_start_too()
    {
        _signal.SetResult(PosixSignal.SIGINT);
        using var interruption = new StartInterruption(_signal.Task, _log, _time, _exits.Add);
        _time.Advance(StartInterruption.Grace);
        Assert.Equal([0], _exits);
    }
}
