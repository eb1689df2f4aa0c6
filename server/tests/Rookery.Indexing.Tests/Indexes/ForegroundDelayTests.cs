using Rookery.Indexing.Indexes;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Indexes;

public sealed class ForegroundDelayTests
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly Queue<Action> _waiting = new();

    [Fact]
    public void Indexing_gives_way_while_requests_wait_and_comes_back()
    {
        var delay = new ForegroundDelay(_time, _waiting.Enqueue);
        Answer(delay, TimeSpan.FromMilliseconds(1));
        Assert.Equal(1, delay.Share);

        Answer(delay, ForegroundDelay.TooLong);
        Assert.Equal(ForegroundDelay.LeastShare, delay.Share);
        double before = delay.Share;
        for (int i = 0; i < 100; i++)
        {
            Answer(delay, TimeSpan.Zero);
            Assert.InRange(delay.Share, before, 1);
            before = delay.Share;
        }

        Assert.Equal(1, delay.Share);
    }

    [Fact]
    public void What_still_waits_counts_and_nothing_is_asked_twice()
    {
        var delay = new ForegroundDelay(_time, _waiting.Enqueue);
        delay.Measure();
        delay.Measure();
        Assert.Single(_waiting);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(ForegroundDelay.LeastShare, delay.Share);
        Assert.Equal(TimeSpan.FromSeconds(1), delay.Delay);
    }

    private void Answer(ForegroundDelay delay, TimeSpan after)
    {
        delay.Measure();
        _time.Advance(after);
        _waiting.Dequeue()();
    }
}
