namespace Rookery.Redis.Changes;

/// <summary>A connection that waits for a change of one of some documents.</summary>
/// <param name="ids">Their ids; empty for all documents.</param>
internal sealed class ChangeWaiter(IReadOnlyList<string> ids)
{
    // Timers accept less than 50 days, so a wait that is longer than this has no limit.
    private static readonly TimeSpan LongestTimer = TimeSpan.FromDays(40);

    private TaskCompletionSource _woken = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>The ids.</summary>
    public IReadOnlyList<string> Ids => ids;

    /// <summary>Wakes the connection; any thread may call it.</summary>
    public void Wake() => Volatile.Read(ref _woken).TrySetResult();

    /// <summary>Waits for a change after the last call of <see cref="Reset"/>.</summary>
    /// <param name="limit">The longest wait; null for no limit.</param>
    /// <param name="time">The clock.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>False if no change came in time.</returns>
    public async ValueTask<bool> WaitAsync(TimeSpan? limit, TimeProvider time, CancellationToken cancellationToken)
    {
        if (limit < TimeSpan.Zero)
        {
            return false;
        }

        try
        {
            await _woken.Task.WaitAsync(
                limit is { } wait && wait < LongestTimer ? wait : Timeout.InfiniteTimeSpan,
                time,
                cancellationToken
            );
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
