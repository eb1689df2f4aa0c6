using Rookery.Platform;

namespace Rookery.Storage.Engine;

/// <summary>A step of background work that is retried after a disk operation failed, and its last failure.</summary>
/// <param name="context">The engine.</param>
/// <param name="name">Name of the step in messages.</param>
/// <param name="step">Executes the step; returns whether there was work.</param>
internal sealed class RetriedStep(EngineContext context, string name, Func<bool> step)
{
    private string? _failure;

    /// <summary>Why the last attempt failed, in one sentence; null if it did not.</summary>
    public string? Failure => Volatile.Read(ref _failure);

    /// <summary>
    /// Executes the step; a failed disk operation becomes <see cref="Failure"/>. Call it on the background thread.
    /// </summary>
    /// <returns>Whether there was work and it was done.</returns>
    public bool Try()
    {
        context.Garbage.Collect();
        try
        {
            bool done = step();
            ForgetFailure();
            return done;
        }
        catch (DiskException refused)
        {
            context.Counters.Failures++;
            Volatile.Write(ref _failure, $"A {name} failed and will be tried again: {refused.Message}");
            return false;
        }
    }

    /// <summary>Clears the failure, because the failed work is no longer needed.</summary>
    public void ForgetFailure() => Volatile.Write(ref _failure, null);
}
