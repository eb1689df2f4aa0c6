namespace Rookery.Redis.Changes;

/// <summary>A connection that waits for a change of one of some documents.</summary>
/// <param name="ids">Their ids; empty for all documents.</param>
internal sealed class ChangeWaiter(IReadOnlyList<string> ids)
{
    private TaskCompletionSource _woken = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>The ids.</summary>
    public IReadOnlyList<string> Ids => ids;

    /// <summary>Wakes the connection; any thread may call it.</summary>
    public void Wake() => Volatile.Read(ref _woken).TrySetResult();

    /// <summary>
    /// Waits for a change after the last call of <see cref="Reset"/>, for at most a time; returns false if none came.
    /// </summary>
    public async ValueTask<bool> WaitAsync(TimeSpan limit, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            await _woken.Task.WaitAsync(limit, time, cancellationToken);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    /// <summary>Forgets the changes so far. Look at the data after this call.</summary>
    public void Reset()
    {
        if (_woken.Task.IsCompleted)
        {
            Volatile.Write(ref _woken, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        }
    }
}
