namespace Rookery.Indexing.Scheduling;

/// <summary>Tasks that wait until an index has reached an etag. Thread-safe.</summary>
internal sealed class EtagWaiters
{
    private readonly List<(long Etag, bool WaitsUntilResumed, TaskCompletionSource<bool> Done)> _waiting = [];
    private readonly Lock _gate = new();
    private long _least;
    private bool _isClosed;

    /// <summary>The lowest etag that a task waits for; 0 when no task waits.</summary>
    public long LeastEtag => Volatile.Read(ref _least);

    /// <summary>Whether the index is closed, so that waiting is refused.</summary>
    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Returns a task that completes when the index reaches an etag.</summary>
    /// <param name="etag">The etag to reach or pass.</param>
    /// <param name="reached">Returns the etag reached now. Called under the lock.</param>
    /// <param name="waitsUntilResumed">Whether the task waits even while the index is paused, disabled or in error,
    /// because it may be resumed.</param>
    /// <returns>True if the etag is reached. False if the index closes, or if it does not run and
    /// <paramref name="waitsUntilResumed"/> is false.</returns>
    public Task<bool> Add(long etag, Func<long> reached, bool waitsUntilResumed = false)
    {
        var done = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (_isClosed || reached() >= etag)
            {
                return Task.FromResult(!_isClosed);
            }

            _waiting.Add((etag, waitsUntilResumed, done));
            UpdateLeast();
        }

        return done.Task;
    }

    /// <summary>Completes the tasks that wait for this etag or a lower one.</summary>
    public void Reach(long etag)
    {
        // The lock is always taken, so a task that is being added either sees this etag or is completed here.
        lock (_gate)
        {
            foreach (var (wanted, _, done) in _waiting)
            {
                if (wanted <= etag)
                {
                    done.SetResult(true);
                }
            }

            _waiting.RemoveAll(waiting => waiting.Etag <= etag);
            UpdateLeast();
        }
    }

    /// <summary>Removes the task of a caller that no longer waits.</summary>
    public void Remove(Task<bool> waiting)
    {
        lock (_gate)
        {
            _waiting.RemoveAll(waiter => waiter.Done.Task == waiting);
            UpdateLeast();
        }
    }

    /// <summary>
    /// Completes all tasks with false, because the etag will not be reached. New tasks are completed with false at
    /// once.
    /// </summary>
    public void Close()
    {
        lock (_gate)
        {
            Volatile.Write(ref _isClosed, true);
            Release(endsAll: true);
        }
    }

    /// <summary>Completes tasks with false, because the index does not run. New tasks may still be added.</summary>
    /// <param name="endsAll">Whether tasks that wait until the index is resumed are completed, too.</param>
    public void Release(bool endsAll)
    {
        lock (_gate)
        {
            foreach (var (_, waitsUntilResumed, done) in _waiting)
            {
                if (endsAll || !waitsUntilResumed)
                {
                    done.SetResult(false);
                }
            }

            _waiting.RemoveAll(static waiting => waiting.Done.Task.IsCompleted);
            UpdateLeast();
        }
    }

    private void UpdateLeast() =>
        Volatile.Write(ref _least, _waiting.Count == 0 ? 0 : _waiting.Min(static waiter => waiter.Etag));
}
