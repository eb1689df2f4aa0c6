namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Keeps what goes on after an await until it is asked for, so that the code of the host runs on one thread and in one
/// order.
/// </summary>
internal sealed class Continuations : SynchronizationContext
{
    private readonly Queue<(SendOrPostCallback Callback, object? State)> _waiting = [];

    public override void Post(SendOrPostCallback d, object? state)
    {
        // A thread of the pool would make the run another each time.
        lock (_waiting)
        {
            _waiting.Enqueue((d, state));
        }
    }

    public override void Send(SendOrPostCallback d, object? state) => d(state);

    /// <summary>Runs what waits, and what that brings about.</summary>
    public void Run()
    {
        while (_waiting.TryDequeue(out var next))
        {
            next.Callback(next.State);
        }
    }
}
