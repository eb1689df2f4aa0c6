using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// The one thread that flushes, compacts, scrubs and gives memory back, below normal priority. It sleeps while there is nothing to do: an idle node writes nothing
/// and this thread wakes once in half a minute.
/// </summary>
public sealed class BackgroundWork : IDisposable
{
    private static readonly TimeSpan IdleInterval = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan FirstBackOff = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestBackOff = TimeSpan.FromMinutes(1);

    private readonly StorageEngine engine;
    private readonly long scrubBytes;
    private readonly Action<Exception> failed;
    private readonly AutoResetEvent work = new(initialState: true);
    private readonly ManualResetEventSlim stop = new();
    private readonly Lock gate = new();
    private readonly Queue<Action> requests = new();
    private readonly Thread thread;
    private TimeSpan backOff = FirstBackOff;

    /// <summary>Starts the thread.</summary>
    /// <param name="engine">The engine, which is disposed after this.</param>
    /// <param name="scrubBytes">How much to check against checksums at each idle wake, in bytes; 0 never scrubs.</param>
    /// <param name="failed">Called when background work met what it does not know: a bug. The thread ends, and writers will wait.</param>
    public BackgroundWork(StorageEngine engine, long scrubBytes, Action<Exception> failed)
    {
        this.engine = engine;
        this.scrubBytes = scrubBytes;
        this.failed = failed;
        engine.HasBackgroundWork = true;
        engine.WorkArrived = () => work.Set();
        thread = new Thread(Run) { IsBackground = true, Name = "storage", Priority = ThreadPriority.BelowNormal };
        thread.Start();
    }

    /// <summary>Runs something on the background thread, between two steps (a checkpoint), and waits for it.</summary>
    /// <exception cref="ObjectDisposedException">The thread has ended.</exception>
    public Task<T> Run<T>(Func<T> request)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (gate)
        {
            ObjectDisposedException.ThrowIf(stop.IsSet, this);
            requests.Enqueue(() => Answer(request, done));
        }

        work.Set();
        return done.Task;
    }

    /// <summary>Ends the thread after the step that it is in.</summary>
    public void Dispose()
    {
        lock (gate)
        {
            stop.Set();
        }

        work.Set();
        thread.Join();
        engine.WorkArrived = null;
        engine.HasBackgroundWork = false;
        work.Dispose();
        stop.Dispose();
    }

    private static void Answer<T>(Func<T> request, TaskCompletionSource<T> done)
    {
        try
        {
            done.SetResult(request());
        }
        catch (Exception refused) when (refused is not InvariantViolationException)
        {
            done.SetException(refused);
        }
    }

    private void Run()
    {
        try
        {
            while (!stop.IsSet)
            {
                Step();
            }
        }
        catch (Exception bug)
        {
            failed(bug);
        }
    }

    private void Step()
    {
        if (TakeRequest() is { } request)
        {
            request();
            return;
        }

        bool isBusy = engine.FlushDue ? engine.Flush() : engine.CompactOnce();
        if (isBusy)
        {
            backOff = FirstBackOff;
        }
        else if (engine.HasFailed)
        {
            stop.Wait(backOff);
            backOff = backOff * 2 < LongestBackOff ? backOff * 2 : LongestBackOff;
        }
        else if (!work.WaitOne(IdleInterval))
        {
            engine.TrimIdle();
            if (scrubBytes > 0)
            {
                engine.ScrubOnce(scrubBytes);
            }
        }
    }

    private Action? TakeRequest()
    {
        lock (gate)
        {
            return requests.TryDequeue(out Action? request) ? request : null;
        }
    }
}
