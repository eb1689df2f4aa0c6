using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Runs work that continues after the answer to its request. When the server stops, it waits for all work, including
/// work that begins during the wait, so that the node is open while work runs. After the wait no work can begin.
/// Thread-safe.
/// </summary>
/// <param name="log">Log for work that fails.</param>
internal sealed class BackgroundWork(ILogger log) : IHostedService
{
    private readonly Lock _gate = new();
    private readonly HashSet<Task> _running = [];
    private bool _hasStopped;

    /// <summary>Starts work on another thread. The work must end soon after the server begins to stop.</summary>
    /// <param name="name">Name of the work, for the log.</param>
    /// <param name="work">The work.</param>
    /// <returns>False if the server has stopped; the work does not run.</returns>
    public bool TryBegin(string name, Func<Task> work)
    {
        var start = new TaskCompletionSource<Task>(TaskCreationOptions.RunContinuationsAsynchronously);
        var running = start.Task.Unwrap();
        lock (_gate)
        {
            if (_hasStopped)
            {
                return false;
            }

            _running.Add(running);
        }

        start.SetResult(SocketThreads.RunOnPoolAsync(() => RunAsync(name, work, running)));
        return true;
    }

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task[] running;
            lock (_gate)
            {
                running = [.. _running];
                if (running.Length == 0)
                {
                    _hasStopped = true;
                    return;
                }
            }

            await Task.WhenAll(running);
        }
    }

    private async Task RunAsync(string name, Func<Task> work, Task running)
    {
        try
        {
            await work();
        }
        catch (Exception failure)
        {
            log.LogError(LogEvents.WorkFailed, failure, "{Work} failed", name);
        }
        finally
        {
            lock (_gate)
            {
                _running.Remove(running);
            }
        }
    }
}
