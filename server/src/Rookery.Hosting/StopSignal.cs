using System.Runtime.InteropServices;

namespace Rookery.Hosting;

/// <summary>Handles SIGTERM and SIGINT by completing a task, so that they do not end the process at once.</summary>
public sealed class StopSignal : IDisposable
{
    private readonly TaskCompletionSource _received = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PosixSignalRegistration _terminate;
    private readonly PosixSignalRegistration _interrupt;

    /// <summary>Registers the signal handlers.</summary>
    public StopSignal()
    {
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
    }

    /// <summary>Completes when one of the signals has arrived.</summary>
    public Task Received => _received.Task;

    /// <inheritdoc/>
    public void Dispose()
    {
        _terminate.Dispose();
        _interrupt.Dispose();
    }

    private void OnSignal(PosixSignalContext signal)
    {
        signal.Cancel = true;
        _received.TrySetResult();
    }
}
