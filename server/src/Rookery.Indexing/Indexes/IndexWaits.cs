using Rookery.Indexing.Mapping;
using Rookery.Indexing.Scheduling;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The callers that wait until the results of an index include the changes through an etag and no part of a
/// transaction. Thread-safe.
/// </summary>
/// <param name="index">The index.</param>
/// <param name="time">The clock.</param>
public sealed class IndexWaits(RunningIndex index, TimeProvider time)
{
    private readonly EtagWaiters _waiters = new();
    private readonly FreshnessRequest _freshness = new(time);

    /// <summary>The lowest etag that a task waits for or a caller requested; 0 if there is none.</summary>
    public long AwaitedEtag
    {
        get
        {
            long waited = _waiters.LeastEtag;
            if (
                _freshness.Etag is not { } requested
                || requested <= index.ConsistentEtag
                || index.State != IndexState.Normal
            )
            {
                return waited;
            }

            return waited == 0 ? requested : Math.Min(waited, requested);
        }
    }

    /// <summary>Whether the index is closed. Callers that still wait look up its successor.</summary>
    public bool IsClosed => _waiters.IsClosed;

    /// <summary>
    /// Requests that the results soon include the changes through an etag, for a caller that does not wait but asks
    /// again. The request counts for a second.
    /// </summary>
    public void RequestFreshness(long etag) => _freshness.Request(etag);

    /// <summary>Waits until the results include the changes through an etag.</summary>
    /// <param name="etag">The etag to reach.</param>
    /// <param name="timeout">The longest wait.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <param name="mayResume">Returns whether to wait although the index is paused, disabled or stopped. Called before
    /// and after the wait is registered.</param>
    /// <returns>Whether the etag is reached.</returns>
    public async Task<bool> WaitAsync(
        long etag,
        TimeSpan timeout,
        CancellationToken cancellationToken,
        Func<bool>? mayResume = null
    )
    {
        bool waitsUntilResumed = mayResume?.Invoke() is true;
        if (
            index.ConsistentEtag >= etag
            || (index.State != IndexState.Normal && !waitsUntilResumed)
            || timeout <= TimeSpan.Zero
        )
        {
            return index.ConsistentEtag >= etag;
        }

        var waiting = _waiters.Add(etag, () => index.ConsistentEtag, waitsUntilResumed);
        try
        {
            // If the index was paused, disabled or stopped before this task was registered, nothing releases the task.
            return (index.State == IndexState.Normal || mayResume?.Invoke() is true)
                && await waiting.WaitAsync(timeout, time, cancellationToken);
        }
        catch (TimeoutException)
        {
            return index.ConsistentEtag >= etag;
        }
        finally
        {
            _waiters.Remove(waiting);
        }
    }

    /// <summary>If the index is paused, disabled or in error, completes the tasks that would wait in vain.</summary>
    internal void ReleaseIfNotRunning()
    {
        if (index.State != IndexState.Normal)
        {
            _waiters.Release(endsAll: index.HasStopped);
        }
    }

    /// <summary>Completes the tasks that wait for this etag or a lower one.</summary>
    internal void Reach(long etag) => _waiters.Reach(etag);

    /// <summary>Completes all tasks with false, because the index closes.</summary>
    internal void Close() => _waiters.Close();
}
