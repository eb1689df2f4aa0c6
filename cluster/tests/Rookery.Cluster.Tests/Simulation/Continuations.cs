namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Queues continuations until they are run, so that the host's code runs on one thread and in one order.
/// </summary>
internal sealed class Continuations : SynchronizationContext
{
    private readonly Queue<(SendOrPostCallback Callback, object? State)> _waiting = [];

    public override void Post(SendOrPostCallback d, object? state)
    {
        // A pool thread would make runs differ.
        lock (_waiting)
        {
            _waiting.Enqueue((d, state));
        }
    }

    public override void Send(SendOrPostCallback d, object? state) => d(state);

    /// <summary>Runs the queued continuations and those that they queue.</summary>
    public void Run()
    {
        while (_waiting.TryDequeue(out var next))
        {
            next.Callback(next.State);
        }
    }
}
