using Rookery.Platform;

namespace Rookery.Storage.Engine;

/// <summary>A step of background work that is tried again after the disk refused, and why it last did.</summary>
/// <param name="context">The engine.</param>
/// <param name="name">What the step is called in messages.</param>
/// <param name="step">Does it; says whether there was something to do.</param>
internal sealed class RetriedStep(EngineContext context, string name, Func<bool> step)
{
    private string? _failure;

    /// <summary>Why the last attempt failed, in one sentence; null when it did not.</summary>
    public string? Failure => Volatile.Read(ref _failure);

    /// <summary>Does the step, unless the disk refuses. On the background thread.</summary>
    /// <returns>Whether there was something to do and it was done.</returns>
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

    /// <summary>What failed is not to be done any more.</summary>
    public void ForgetFailure() => Volatile.Write(ref _failure, null);
}
