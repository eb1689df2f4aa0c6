namespace Rookery.Indexing.Indexes;

/// <summary>Those who wait until an index has reached an etag. Safe from any thread.</summary>
internal sealed class EtagWaiters
{
    private readonly List<(long Etag, bool IsPatient, TaskCompletionSource<bool> Done)> _waiting = [];
    private readonly Lock _gate = new();
    private long _least;
    private bool _isClosed;

    /// <summary>The lowest etag that somebody waits for; 0 when nobody waits.</summary>
    public long Least => Volatile.Read(ref _least);

    /// <summary>Whether nobody can wait any more.</summary>
    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Begins to wait.</summary>
    /// <param name="etag">For this etag, or one above it.</param>
    /// <param name="reached">What is reached now.</param>
    /// <param name="isPatient">Whether an index that is put to rest is waited for.</param>
    /// <returns>True when it is reached; false when it will not be, or not soon.</returns>
    public Task<bool> Add(long etag, Func<long> reached, bool isPatient = false)
    {
        var done = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (_isClosed || reached() >= etag)
            {
                return Task.FromResult(!_isClosed);
            }

            _waiting.Add((etag, isPatient, done));
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
            foreach (var (wanted, _, done) in _waiting)
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
            Volatile.Write(ref _isClosed, true);
            SendAway(patientToo: true);
        }
    }

    /// <summary>Sends those away who wait now: it will not be reached soon.</summary>
    /// <param name="patientToo">Whether all, or those who do not wait for an index at rest.</param>
    public void SendAway(bool patientToo)
    {
        lock (_gate)
        {
            foreach (var (_, isPatient, done) in _waiting)
            {
                if (patientToo || !isPatient)
                {
                    done.SetResult(false);
                }
            }

            _waiting.RemoveAll(static waiting => waiting.Done.Task.IsCompleted);
            NoteLeast();
        }
    }

    private void NoteLeast() =>
        Volatile.Write(ref _least, _waiting.Count == 0 ? 0 : _waiting.Min(static one => one.Etag));
}
