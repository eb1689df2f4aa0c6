using System.Runtime.InteropServices;

namespace Rookery;

/// <summary>SIGTERM and SIGINT as one task, instead of the end of the process.</summary>
internal sealed class StopSignal : IDisposable
{
    private readonly TaskCompletionSource received = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly PosixSignalRegistration terminate;
    private readonly PosixSignalRegistration interrupt;

    public StopSignal()
    {
        terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
        interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
    }

    /// <summary>Completes when the process was asked to stop.</summary>
    public Task Received => received.Task;

    public void Dispose()
    {
        terminate.Dispose();
        interrupt.Dispose();
    }

    private void OnSignal(PosixSignalContext signal)
    {
        signal.Cancel = true;
        received.TrySetResult();
    }
}
