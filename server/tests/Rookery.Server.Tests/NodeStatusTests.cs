using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;

namespace Rookery.Server.Tests;

/// <summary>The status that a node reports to its machine: a file, its light, and keep-alives for systemd.</summary>
public sealed class NodeStatusTests
{
    [Fact]
    public void A_status_that_cannot_be_updated_is_logged_once_until_it_works_again()
    {
        var log = new RecordedLog();
        bool works = false;
        int calls = 0;
        var update = NodeStatus.GuardUpdate(
            log,
            () =>
            {
                calls++;
                if (!works)
                {
                    throw new IOException("no disk");
                }
            }
        );
        update();
        update();
        Assert.Contains("no disk", Assert.Single(log.Lines), StringComparison.Ordinal);
        works = true;
        update();
        Assert.Single(log.Lines);
        works = false;
        update();
        Assert.Equal(2, log.Lines.Count);
        Assert.Equal(4, calls);
    }

    [Fact]
    public void A_broken_invariant_is_not_caught() =>
        Assert.Throws<InvariantViolationException>(
            NodeStatus.GuardUpdate(new RecordedLog(), static () => Invariant.Holds(false, "a test fails"))
        );

    /// <summary>A keep-alive must show that the thread pool works, without which no request is answered.</summary>
    [Fact]
    public async Task Keep_alives_for_systemd_come_from_the_thread_pool_and_begin_at_once()
    {
        var sent = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var timer = SystemdNotifier.BeginKeepAlives(
            () => sent.TrySetResult(Thread.CurrentThread.IsThreadPoolThread),
            2 * new CoalescingClock().Step
        );
        Assert.True(await sent.Task.WaitAsync(TimeSpan.FromMinutes(1)));
    }
}
