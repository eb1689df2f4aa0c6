using System.Collections.Concurrent;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Work that goes on when its request is answered. The server waits for it when it stops, so that it has a node for as
/// long as it runs. Safe for several threads.
/// </summary>
/// <param name="log">Where faults are told.</param>
internal sealed class BackgroundWork(ILogger log) : IHostedService
{
    private readonly ConcurrentDictionary<Task, byte> _running = new();

    /// <summary>Begins work on another thread. It has to end soon after the server begins to stop.</summary>
    /// <param name="name">What it is, for the log.</param>
    /// <param name="work">The work.</param>
    public void Begin(string name, Func<Task> work)
    {
        var begun = new TaskCompletionSource<Task>(TaskCreationOptions.RunContinuationsAsynchronously);
        var running = begun.Task.Unwrap();
        _running.TryAdd(running, 0);
        begun.SetResult(Task.Run(() => RunAsync(name, work, running)));
    }

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.WhenAll(_running.Keys);

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
            _running.TryRemove(running, out _);
        }
    }
}
