namespace Rookery.Documents.Databases;

/// <summary>
/// Wakes tasks that wait for the next write. Without waiting tasks, a write costs one volatile read. Thread-safe.
/// </summary>
internal sealed class WriteSignal
{
    private TaskCompletionSource? _next;

    /// <summary>Returns a task that completes at the next <see cref="Set"/>.</summary>
    public Task Next()
    {
        while (true)
        {
            if (Volatile.Read(ref _next) is { } next)
            {
                return next.Task;
            }

            var created = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            if (Interlocked.CompareExchange(ref _next, created, comparand: null) is null)
            {
                return created.Task;
            }
        }
    }

    /// <summary>Completes the tasks that wait.</summary>
    public void Set()
    {
        // What the caller published must be visible before the check: a task that begins to wait too late for this
        // check then sees what was published.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _next) is not null)
        {
            Interlocked.Exchange(ref _next, null)?.SetResult();
        }
    }
}
