using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Peers;

public sealed class BackoffTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    /// <summary>Each handshake costs two small boards some milliseconds.</summary>
    [Fact]
    public void Endless_wakes_in_vain_lead_to_at_most_one_attempt_every_640_ms()
    {
        var backoff = new Backoff(new Random(1));
        Assert.InRange(CallsIn(Minute, backoff, isWoken: true), 60, 60_000 / 640 + 6);
    }

    [Fact]
    public void A_wake_after_a_success_leads_to_an_attempt_at_once()
    {
        var backoff = new Backoff(new Random(1));
        CallsIn(Minute, backoff, isWoken: false);
        Assert.Equal(TimeSpan.FromMilliseconds(20), backoff.Next().Beginning);
        CallsIn(Minute, backoff, isWoken: true);
        backoff.Reset();
        Assert.Equal(TimeSpan.FromMilliseconds(20), backoff.Next().Beginning);
    }

    [Fact]
    public void An_absent_member_is_dialled_ever_more_rarely_down_to_every_two_seconds()
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
