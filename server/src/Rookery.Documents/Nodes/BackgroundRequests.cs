using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A queue of work to run between two steps of background work, in the order of arrival. Any thread may add work; one
/// thread runs it.
/// </summary>
internal sealed class BackgroundRequests
{
    private readonly Queue<(Action Run, Action<Exception> Fail)> _waiting = new();
    private readonly Lock _gate = new();
    private bool _isClosed;

    /// <summary>Queues work.</summary>
    /// <returns>The result of <paramref name="work"/>, once it ran. The task fails with the exception that
    /// <paramref name="work"/> throws, or with an <see cref="IOException"/> if the node stops first.</returns>
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

    /// <summary>Runs the oldest queued work.</summary>
    /// <returns>Whether there was any.</returns>
    public bool RunNext()
    {
        (Action Run, Action<Exception> Fail) request;
        lock (_gate)
        {
            if (!_waiting.TryDequeue(out request))
            {
                return false;
            }
        }

        try
        {
            request.Run();
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            request.Fail(failure);
        }

        return true;
    }

    /// <summary>Fails all queued and all later work, because no thread runs it any more.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
            while (_waiting.TryDequeue(out var request))
            {
                request.Fail(Stopping());
            }
        }
    }

    private static IOException Stopping() => new("The node is stopping.");
}
