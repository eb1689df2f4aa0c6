namespace Rookery.Server.Tests;

/// <summary>Work that continues after its request was answered, until the server stops.</summary>
public sealed class BackgroundWorkTests
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(30);

    private readonly BackgroundWork _work = new(new RecordedLog());

    [Fact]
    public async Task A_stop_waits_for_work_that_running_work_started()
    {
        var mayContinue = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var mayEnd = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        bool hasBegun = false;
        Assert.True(
            _work.TryBegin(
                "first",
                async () =>
                {
                    await mayContinue.Task;
                    hasBegun = _work.TryBegin("second", () => mayEnd.Task);
                }
            )
        );
        var stopped = _work.StopAsync(CancellationToken.None);
        mayContinue.SetResult();
        // The stop must not end yet; if it did not wait for the second work, it would end within this time.
        await Assert.ThrowsAsync<TimeoutException>(() => stopped.WaitAsync(TimeSpan.FromMilliseconds(300)));
        Assert.True(hasBegun, "work that runs may begin other work during a stop");
        mayEnd.SetResult();
        await stopped.WaitAsync(Guard);
    }

    [Fact]
    public async Task No_work_begins_after_a_stop()
    {
        await _work.StopAsync(CancellationToken.None);
        Assert.False(
            _work.TryBegin("late", static () => throw new InvalidOperationException("Late work must not run."))
        );
    }

    [Fact]
    public async Task Failed_work_does_not_block_a_stop()
    {
        var mayContinue = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Assert.True(
            _work.TryBegin(
                "broken",
                async () =>
                {
                    await mayContinue.Task;
                    throw new IOException("No room.");
                }
            )
        );
        var stopped = _work.StopAsync(CancellationToken.None);
        mayContinue.SetResult();
        await stopped.WaitAsync(Guard);
    }
}
