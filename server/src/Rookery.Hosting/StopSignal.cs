using System.Runtime.InteropServices;

namespace Rookery.Hosting;

/// <summary>SIGTERM and SIGINT as one task, instead of the end of the process.</summary>
public sealed class StopSignal : IDisposable
{
    private readonly TaskCompletionSource _received = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PosixSignalRegistration _terminate;
    private readonly PosixSignalRegistration _interrupt;

    /// <summary>Listens from now on.</summary>
    public StopSignal()
    {
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
    }

    /// <summary>Completes when the process was asked to stop.</summary>
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
