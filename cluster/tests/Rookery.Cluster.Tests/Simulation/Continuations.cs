namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Queues continuations until they are run, so that the host's code runs on one thread and in one order.
/// </summary>
internal sealed class Continuations : SynchronizationContext
{
    private readonly Queue<(SendOrPostCallback Callback, object? State)> _waiting = [];

    public override void Post(SendOrPostCallback d, object? state)
    {
        // The poster may be a pool thread. The continuation waits for the simulation's thread, so that runs are equal.
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
