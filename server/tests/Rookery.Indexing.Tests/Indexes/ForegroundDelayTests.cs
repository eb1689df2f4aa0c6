using Rookery.Indexing.Scheduling;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>
/// Indexing measures how long the thread pool takes to run a probe, and takes a smaller share of time if that is long.
/// </summary>
public sealed class ForegroundDelayTests
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly Queue<Action> _waiting = new();

    [Fact]
    public void Indexing_yields_while_requests_wait_and_recovers()
    {
        var delay = new ForegroundDelay(_time, _waiting.Enqueue);
        RunProbe(delay, TimeSpan.FromMilliseconds(1));
        Assert.Equal(1, delay.Share);

        RunProbe(delay, ForegroundDelay.TooLong);
        Assert.Equal(ForegroundDelay.MinShare, delay.Share);
        double before = delay.Share;
        for (int i = 0; i < 100; i++)
        {
            RunProbe(delay, TimeSpan.Zero);
            Assert.InRange(delay.Share, before, 1);
            before = delay.Share;
        }

        Assert.Equal(1, delay.Share);
    }

    [Fact]
    public void A_waiting_probe_counts_as_delay_and_no_second_probe_is_queued()
    {
        var delay = new ForegroundDelay(_time, _waiting.Enqueue);
        delay.Measure();
        delay.Measure();
        Assert.Single(_waiting);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(ForegroundDelay.MinShare, delay.Share);
        Assert.Equal(TimeSpan.FromSeconds(1), delay.Delay);
    }

    /// <summary>Queues a probe, and runs it after a time.</summary>
    private void RunProbe(ForegroundDelay delay, TimeSpan after)
    {
        delay.Measure();
        _time.Advance(after);
        _waiting.Dequeue()();
    }
}
