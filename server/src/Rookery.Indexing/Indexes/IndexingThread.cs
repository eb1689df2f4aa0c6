using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The low-priority thread that keeps a node's indexes up to date. It uses the share of a core that the host allows,
/// sleeps while nothing changes, and indexes a burst of writes in one pass.
/// </summary>
public sealed class IndexingThread : IDisposable
{
    // Writes within this time are indexed in one pass, unless a query waits for an index.
    private static readonly TimeSpan Gathering = TimeSpan.FromMilliseconds(100);

    private readonly IndexHost _host;
    private readonly DatabaseCatalog _databases;
    private readonly DutyCyclePacer _pacer;
    private readonly Thread _thread;
    private readonly AutoResetEvent _applied = new(initialState: true);
    private readonly AutoResetEvent _wakeRequested = new(initialState: false);
    private readonly ManualResetEvent _stopping = new(initialState: false);
    private int _isSignalled = 1;
    private bool _isWorking;
    private bool _isDisposed;
    private string? _trouble;

    /// <summary>Starts the thread.</summary>
    /// <param name="host">The indexes; disposed with this thread.</param>
    /// <param name="databases">The databases whose writes wake the thread.</param>
    /// <param name="time">The clock.</param>
    public IndexingThread(IndexHost host, DatabaseCatalog databases, TimeProvider time)
    {
        (_host, _databases) = (host, databases);
        _pacer = new DutyCyclePacer(time);
        host.WakeRequested = Wake;
        databases.Applied = OnApplied;
        _thread = new Thread(Run)
        {
            Name = "indexing",
            IsBackground = true,
            Priority = ThreadPriority.BelowNormal,
        };
        _thread.Start();
    }

    /// <summary>Whether the thread is working rather than waiting.</summary>
    public bool IsWorking => Volatile.Read(ref _isWorking);

    /// <summary>Ends the thread after its current step and closes the indexes.</summary>
    public void Dispose()
    {
        if (_isDisposed)
        {
            return;
        }

        _isDisposed = true;
        _databases.Applied = null;
        _host.WakeRequested = null;
        _stopping.Set();
        _pacer.Dispose(); // ends its pauses
        _thread.Join();
        _host.Dispose();

        // The other two events are not disposed, because another thread may be about to set one of them.
        _stopping.Dispose();
    }

    private void Wake()
    {
        _wakeRequested.Set();
        if (_host.IsAwaited)
        {
            _pacer.EndPause();
        }
    }

    // Sets the event only if the thread has handled the last one, so that not every applied entry wakes it.
    private void OnApplied()
    {
        if (Interlocked.Exchange(ref _isSignalled, 1) == 0)
        {
            _applied.Set();
        }
    }

    private void Run()
    {
        WaitHandle[] work = [_stopping, _wakeRequested, _applied];
        WaitHandle[] gathering = [_stopping, _wakeRequested];
        while (!_stopping.WaitOne(0))
        {
            Volatile.Write(ref _isSignalled, 0);
            Volatile.Write(ref _isWorking, true);
            bool failed = !TryWork();
            Volatile.Write(ref _isWorking, false);
            int woken = WaitHandle.WaitAny(
                work,
                failed || _host.HasPending || !_host.HasRoom || _pacer.IsPaused
                    ? _host.PendingAge
                    : Timeout.InfiniteTimeSpan
            );
            if (woken == Array.IndexOf(work, _applied) && !_host.IsAwaited)
            {
                WaitHandle.WaitAny(gathering, Gathering);
            }
        }
    }

    // A read or write may fail for reasons that no single index causes. The node continues to serve documents, and the
    // work is tried again later.
    private bool TryWork()
    {
        try
        {
            _pacer.BeginPiece();
            _host.Follow();
            while (!_stopping.WaitOne(0) && MayWork() && _host.Step())
            {
                _pacer.Yield(0, urgent: _host.IsAwaited);
            }

            _trouble = null;
            return true;
        }
        catch (Exception failure) when (IsTransient(failure))
        {
            if (!string.Equals(_trouble, failure.Message, StringComparison.Ordinal))
            {
                _trouble = failure.Message;
                _host.ReportTrouble($"Indexing pauses and will be tried again: {failure.Message}");
            }

            return false;
        }
        finally
        {
            _host.InterruptPasses();
        }
    }

    private static bool IsTransient(Exception failure) =>
        failure is IOException or InvalidDataException
        || (failure is AggregateException several && several.InnerExceptions.All(IsTransient));

    private bool MayWork()
    {
        _host.MeasureForeground();
        _pacer.Share = _host.ShareOfCore;
        return !_pacer.IsPaused || _host.IsAwaited;
    }
}
