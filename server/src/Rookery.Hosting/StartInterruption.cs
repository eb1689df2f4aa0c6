using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Ends the process soon after a signal that arrives while the node starts. The replay of a long journal, the opening
/// of many databases and a disk that does not answer may each take longer than systemd waits.
/// </summary>
/// <remarks>
/// A start changes the disk only in steps that survive a power cut, so an exit between any two of them loses nothing:
/// the next start begins again.
/// </remarks>
internal sealed class StartInterruption : IDisposable
{
    /// <summary>How long a start may continue after the signal. A start that ends by then is stopped cleanly.</summary>
    public static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    private readonly ILogger _log;
    private readonly Action<int> _exit;
    private readonly ITimer _timer;
    private readonly Lock _gate = new();
    private bool _isOver;

    /// <summary>Begins to wait for the signal.</summary>
    /// <param name="stopping">Completes with the signal that ends the process.</param>
    /// <param name="log">The log.</param>
    /// <param name="time">The clock.</param>
    /// <param name="exit">Ends the process with a code.</param>
    public StartInterruption(Task<PosixSignal> stopping, ILogger log, TimeProvider time, Action<int> exit)
    {
        (_log, _exit) = (log, exit);
        _timer = time.CreateTimer(
            static start => ((StartInterruption)start!).End(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );

        // All threads of the pool may wait for the disk, so this asks for the thread that completes the task. The task
        // of StopSignal does not allow that: there the grace time begins when the pool has a thread.
        _ = stopping.ContinueWith(
            _ => _timer.Change(Grace, Timeout.InfiniteTimeSpan),
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default
        );
    }

    /// <summary>Records that the start has ended. The signal has no effect here any more.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isOver = true;
        }

        _timer.Dispose();
    }

    private void End()
    {
        lock (_gate)
        {
            if (_isOver)
            {
                return;
            }

            _isOver = true;
        }

        _log.LogInformation(
            LogEvents.StartInterrupted,
            "The node was told to stop while it started, and its start did not end within {Seconds} s, so the process "
                + "exits as in a power cut. Every acknowledged write is on the disk; the next start begins again.",
            Grace.TotalSeconds
        );
        _exit(ExitCode.Success);
    }
}
