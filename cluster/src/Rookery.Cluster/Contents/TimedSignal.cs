namespace Rookery.Cluster.Contents;

/// <summary>
/// Wakes one waiting task when the signal is set, or when a time has passed. Unlike <see cref="Task.WhenAny(Task[])"/>
/// it uses no other thread, so simulated runs are repeatable. Setting is thread-safe; one task at a time waits.
/// </summary>
internal sealed class TimedSignal(TimeProvider time)
{
    private TaskCompletionSource _set = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Wakes the waiting task, or the next one.</summary>
    public void Set() => Volatile.Read(ref _set).TrySetResult();

    /// <summary>Waits until the signal is set or the time has passed.</summary>
    public async Task WaitAsync(TimeSpan longest)
    {
        using var timer = time.CreateTimer(
            static signal => ((TimedSignal)signal!).Set(),
            this,
            longest,
            Timeout.InfiniteTimeSpan
        );
        await Volatile.Read(ref _set).Task;
        Volatile.Write(ref _set, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
    }
}
