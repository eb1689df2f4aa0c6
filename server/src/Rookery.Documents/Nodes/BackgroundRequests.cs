using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// What is asked to be done between two steps of background work, first come first served. Asked from any thread, done
/// by one.
/// </summary>
internal sealed class BackgroundRequests
{
    private readonly Queue<(Action Do, Action<Exception> Fail)> _waiting = new();
    private readonly Lock _gate = new();
    private bool _isClosed;

    /// <summary>Has something done.</summary>
    /// <returns>What it came to, once it was its turn; it ends with what <paramref name="work"/> throws, or with an
    /// <see cref="IOException"/> when the node stops before.</returns>
    public Task<T> AddAsync<T>(Func<T> work)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (_isClosed)
            {
                return Task.FromException<T>(Stopping());
            }

            _waiting.Enqueue((() => done.SetResult(work()), failure => done.SetException(failure)));
        }

        return done.Task;
    }

    /// <summary>Does what was asked first.</summary>
    /// <returns>Whether something was asked.</returns>
    public bool DoNext()
    {
        (Action Do, Action<Exception> Fail) request;
        lock (_gate)
        {
            if (!_waiting.TryDequeue(out request))
            {
                return false;
            }
        }

        try
        {
            request.Do();
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            request.Fail(failure);
        }

        return true;
    }

    /// <summary>Fails what still waits, and what comes later. When nobody does it any more.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
            while (_waiting.TryDequeue(out var late))
            {
                late.Fail(Stopping());
            }
        }
    }

    private static IOException Stopping() => new("The node is stopping.");
}
