namespace Rookery.Indexing.Indexes;

/// <summary>Those who wait until an index has reached an etag. Safe from any thread.</summary>
internal sealed class EtagWaiters
{
    private readonly List<(long Etag, TaskCompletionSource<bool> Done)> _waiting = [];
    private readonly Lock _gate = new();
    private long _least;
    private bool _isClosed;

    /// <summary>The lowest etag that somebody waits for; 0 when nobody waits.</summary>
    public long Least => Volatile.Read(ref _least);

    /// <summary>Begins to wait.</summary>
    /// <param name="etag">For this etag, or one above it.</param>
    /// <param name="reached">What is reached now.</param>
    /// <returns>True when it is reached; false when it will not be.</returns>
    public Task<bool> Add(long etag, Func<long> reached)
    {
        var done = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (_isClosed || reached() >= etag)
            {
                return Task.FromResult(!_isClosed);
            }

            _waiting.Add((etag, done));
            NoteLeast();
        }

        return done.Task;
    }

    /// <summary>Lets those go on who waited for this etag or one below it.</summary>
    public void Reach(long etag)
    {
        // Always under the lock: who begins to wait at this moment has either seen this etag or is seen here.
        lock (_gate)
        {
            foreach (var (wanted, done) in _waiting)
            {
                if (wanted <= etag)
                {
                    done.SetResult(true);
                }
            }

            _waiting.RemoveAll(waiting => waiting.Etag <= etag);
            NoteLeast();
        }
    }

    /// <summary>Tells somebody who gave up that he need not be waited for.</summary>
    public void Remove(Task<bool> waiting)
    {
        lock (_gate)
        {
            _waiting.RemoveAll(one => one.Done.Task == waiting);
            NoteLeast();
        }
    }

    /// <summary>Sends all away, those who come later too: it will not be reached.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
            foreach (var (_, done) in _waiting)
            {
                done.SetResult(false);
            }

            _waiting.Clear();
            NoteLeast();
        }
    }

    private void NoteLeast() =>
        Volatile.Write(ref _least, _waiting.Count == 0 ? 0 : _waiting.Min(static one => one.Etag));
}
