using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>
/// The turns of answers that are built in memory as a whole: a few are sent at once, and a further request waits for a
/// turn for at most two seconds.
/// </summary>
public sealed class LargeAnswersTests
{
    [Fact]
    public async Task Concurrent_large_answers_are_limited()
    {
        var time = new SimulatedTimeProvider();
        var answers = new LargeAnswers(time);
        var answersEnd = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var first = Enumerable
            .Range(0, LargeAnswers.MaxConcurrent)
            .Select(_ => answers.SendAsync(new DefaultHttpContext(), () => answersEnd.Task))
            .ToArray();
        var refused = new DefaultHttpContext();
        var waiting = answers.SendAsync(refused, () => throw new InvalidOperationException("It was sent."));
        Assert.False(waiting.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(2));
        await waiting;
        Assert.Equal((429, "1"), (refused.Response.StatusCode, refused.Response.Headers.RetryAfter.ToString()));
        answersEnd.SetResult();
        await Task.WhenAll(first);
        bool isSent = false;
        await answers.SendAsync(new DefaultHttpContext(), () => Task.FromResult(isSent = true));
        Assert.True(isSent);
    }

    [Fact]
    public async Task A_client_that_does_not_read_for_a_minute_is_disconnected_and_frees_its_turn()
    {
        var time = new SimulatedTimeProvider();
        var answers = new LargeAnswers(time);
        var slow = Enumerable.Range(0, LargeAnswers.MaxConcurrent).Select(_ => new SlowReader()).ToArray();
        var sending = slow.Select(reader => answers.SendAsync(ContextOf(reader), () => reader.Aborted.Task)).ToArray();
        time.Advance(TimeSpan.FromSeconds(59));
        Assert.DoesNotContain(sending, static task => task.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.All(slow, static reader => Assert.True(reader.Aborted.Task.IsCompleted));
        await Task.WhenAll(sending);
        bool isSent = false;
        await answers.SendAsync(new DefaultHttpContext(), () => Task.FromResult(isSent = true));
        Assert.True(isSent);
    }

    private static DefaultHttpContext ContextOf(SlowReader reader)
    {
        var http = new DefaultHttpContext();
        http.Features.Set<IHttpRequestLifetimeFeature>(reader);
        return http;
    }

    /// <summary>A connection that blocks until it is aborted.</summary>
    private sealed class SlowReader : IHttpRequestLifetimeFeature
    {
        public TaskCompletionSource Aborted { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public CancellationToken RequestAborted { get; set; }

        public void Abort() => Aborted.TrySetResult();
    }
}
