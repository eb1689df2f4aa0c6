namespace Rookery.Server.Subscriptions;

/// <summary>Wakes the workers that share a feed when documents of one of them have to be sent again.</summary>
internal sealed class FeedSignal
{
    private TaskCompletionSource _next = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Returns a task that completes at the next <see cref="Set"/>.</summary>
    public Task Next() => Volatile.Read(ref _next).Task;

    /// <summary>Completes the tasks so far.</summary>
    public void Set() =>
        Interlocked
            .Exchange(ref _next, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously))
            .SetResult();
}
