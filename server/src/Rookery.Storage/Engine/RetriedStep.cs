using Rookery.Platform;

namespace Rookery.Storage.Engine;

/// <summary>A step of background work that is retried after a disk operation failed, and its last failure.</summary>
/// <param name="context">The engine.</param>
/// <param name="name">Name of the step in messages.</param>
/// <param name="step">Executes the step; returns whether there was work.</param>
internal sealed class RetriedStep(EngineContext context, string name, Func<bool> step)
{
    private DiskException? _refusal;

    /// <summary>The failure of the last attempt; null if it did not fail.</summary>
    public DiskException? Refusal => Volatile.Read(ref _refusal);

    /// <summary>Why the last attempt failed, in one sentence; null if it did not.</summary>
    public string? Failure =>
        Refusal is { } refusal ? $"A {name} failed and will be tried again: {refusal.Message}" : null;

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
            Volatile.Write(ref _refusal, refused);
            return false;
        }
    }

    /// <summary>Clears the failure, because the failed work is no longer needed.</summary>
    public void ForgetFailure() => Volatile.Write(ref _refusal, null);
}
