using Microsoft.AspNetCore.Http;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

public sealed class LargeAnswersTests
{
    [Fact]
    public async Task No_more_are_put_together_at_once_than_there_is_memory_for()
    {
        var time = new SimulatedTimeProvider();
        var answers = new LargeAnswers(time);
        var end = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var first = Enumerable.Range(0, LargeAnswers.Most).Select(_ => answers.SendAsync(new DefaultHttpContext(), () => end.Task)).ToArray();
        var refused = new DefaultHttpContext();
        var waiting = answers.SendAsync(refused, () => throw new InvalidOperationException("It was let in."));
        Assert.False(waiting.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(2));
        await waiting;
        Assert.Equal((429, "1"), (refused.Response.StatusCode, refused.Response.Headers.RetryAfter.ToString()));
        end.SetResult();
        await Task.WhenAll(first);
        bool isLetIn = false;
        await answers.SendAsync(new DefaultHttpContext(), () => Task.FromResult(isLetIn = true));
        Assert.True(isLetIn);
    }
}
