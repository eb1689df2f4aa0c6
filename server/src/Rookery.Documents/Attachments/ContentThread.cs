namespace Rookery.Documents.Attachments;

/// <summary>
/// The thread that writes, syncs and names contents, so that no thread of the pool waits for a sync. Uploads take turns
/// on it, one chunk at a time, so an upload whose client is slow delays no other. Starts with the first upload.
/// </summary>
internal sealed class ContentThread : IDisposable
{
    private readonly object _gate = new();
    private readonly Queue<Job> _jobs = new();
    private Thread? _thread;
    private bool _isClosed;

    /// <summary>Whether work runs on the caller's thread, for tests with simulated time.</summary>
    public bool RunsInline { get; set; }

    /// <summary>Runs work after all work that was added before.</summary>
    /// <returns>Completes when the work has run, with its exception if it threw one.</returns>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public Task RunAsync(Action work)
    {
        var job = new Job(work);
        if (RunsInline)
        {
            job.Run();
            return job.Task;
        }

        lock (_gate)
        {
            if (_isClosed)
            {
                job.SetCanceled();
                return job.Task;
            }

            _jobs.Enqueue(job);
            if (_thread is null)
            {
                _thread = new Thread(Run) { Name = "attachments", IsBackground = true };
                _thread.Start();
            }

            Monitor.Pulse(_gate);
        }

        return job.Task;
    }

    /// <summary>Ends the thread after the work that runs, and cancels the rest.</summary>
    public void Dispose()
    {
        Thread? thread;
        lock (_gate)
        {
            _isClosed = true;
            thread = _thread;
            Monitor.Pulse(_gate);
        }

        thread?.Join();
        while (_jobs.TryDequeue(out var job))
        {
            job.SetCanceled();
        }
    }

    private void Run()
    {
        while (Next() is { } job)
        {
            job.Run();
        }
    }

    private Job? Next()
    {
        lock (_gate)
        {
            while (!_isClosed && _jobs.Count == 0)
            {
                Monitor.Wait(_gate);
            }

            return _isClosed ? null : _jobs.Dequeue();
        }
    }

    // The caller continues on the pool, not on this thread.
    private sealed class Job(Action work) : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        public void Run()
        {
            try
            {
                work();
                SetResult();
            }
            catch (Exception failure)
            {
                SetException(failure); // the upload reports it
            }
        }
    }
}
