using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Peers;

public sealed class BackoffTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    /// <summary>Each handshake costs two small boards some milliseconds.</summary>
    [Fact]
    public void Who_is_woken_in_vain_without_end_calls_no_more_often_than_every_640_ms()
    {
        var backoff = new Backoff(new Random(1));
        Assert.InRange(CallsIn(Minute, backoff, isWoken: true), 60, 60_000 / 640 + 6);
    }

    [Fact]
    public void Who_is_woken_is_called_at_once_when_wakes_were_not_in_vain()
    {
        var backoff = new Backoff(new Random(1));
        CallsIn(Minute, backoff, isWoken: false);
        Assert.Equal(TimeSpan.FromMilliseconds(20), backoff.Next().Beginning);
        CallsIn(Minute, backoff, isWoken: true);
        backoff.Reset();
        Assert.Equal(TimeSpan.FromMilliseconds(20), backoff.Next().Beginning);
    }

    [Fact]
    public void Who_is_not_there_is_called_every_two_seconds_at_least_and_less_and_less_often_at_first()
    {
        Assert.InRange(CallsIn(Minute, new Backoff(new Random(1)), isWoken: false), 30, 66);
    }

    private static int CallsIn(TimeSpan time, Backoff backoff, bool isWoken)
    {
        int calls = 0;
        for (var passed = TimeSpan.Zero; passed < time; calls++)
        {
            var (beginning, remainder) = backoff.Next();
            passed += isWoken ? beginning : beginning + remainder;
            if (isWoken)
            {
                backoff.RecordWake();
            }
        }

        return calls;
    }
}
