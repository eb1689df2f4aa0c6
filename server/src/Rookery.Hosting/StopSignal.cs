using System.Runtime.InteropServices;

namespace Rookery.Hosting;

/// <summary>
/// Handles the ending signals by completing a task, so that they do not end the process at once.
/// </summary>
public sealed class StopSignal : IDisposable
{
    private readonly TaskCompletionSource<PosixSignal> _received = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );

    private readonly IReadOnlyList<PosixSignalRegistration> _signals;

    /// <summary>Registers the signal handlers.</summary>
    public StopSignal() => _signals = EndingSignals.Register(OnSignal);

    /// <summary>Completes with the first of the signals that arrives.</summary>
    public Task<PosixSignal> Received => _received.Task;

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var signal in _signals)
        {
            signal.Dispose();
        }
    }

    private void OnSignal(PosixSignalContext signal)
    {
        signal.Cancel = true;
        _received.TrySetResult(signal.Signal);
    }
}
