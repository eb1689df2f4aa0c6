using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Peers;

public sealed class BackoffTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    /// <summary>Each handshake costs two small boards some milliseconds.</summary>
    [Fact]
    public void Wakes_without_success_lead_to_at_most_one_attempt_every_640_ms()
    {
        var backoff = new Backoff(new Random(1));
        // The first six delays are shorter.
        Assert.InRange(AttemptsIn(Minute, backoff, isWoken: true), 60, 60_000 / 640 + 6);
    }

    [Fact]
    public void A_wake_after_a_success_leads_to_an_attempt_at_once()
    {
        var backoff = new Backoff(new Random(1));
        AttemptsIn(Minute, backoff, isWoken: false);
        Assert.Equal(TimeSpan.FromMilliseconds(20), backoff.Next().Minimum);
        AttemptsIn(Minute, backoff, isWoken: true);
        backoff.Reset();
        Assert.Equal(TimeSpan.FromMilliseconds(20), backoff.Next().Minimum);
    }

    [Fact]
    public void An_absent_member_is_dialled_more_and_more_rarely_and_at_least_every_two_seconds()
    {
        // A delay is random between 1 s and 2 s; the first six are shorter.
        Assert.InRange(AttemptsIn(Minute, new Backoff(new Random(1)), isWoken: false), 30, 66);
    }

    /// <summary>Returns the number of connection attempts in a time, if each delay is woken at once or never.</summary>
    private static int AttemptsIn(TimeSpan time, Backoff backoff, bool isWoken)
    {
        int attempts = 0;
        for (var passed = TimeSpan.Zero; passed < time; attempts++)
        {
            var (beginning, remainder) = backoff.Next();
            passed += isWoken ? beginning : beginning + remainder;
            if (isWoken)
            {
                backoff.RecordWake();
            }
        }

        return attempts;
    }
}
