using System.Runtime.InteropServices;
using Rookery.Hosting;

namespace Rookery.Terminal;

/// <summary>
/// Ends a long command at Ctrl+C or SIGTERM, with a message about what was done and how to continue. A second signal
/// ends the command at once.
/// </summary>
internal sealed class Interruption : IDisposable
{
    private readonly Func<string> _clean;
    private readonly Progress? _progress;
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;
    private int _isEnding;

    /// <summary>Registers the signal handlers until it is disposed.</summary>
    /// <param name="progress">The progress display, which the interruption ends; null for none.</param>
    /// <param name="clean">Cleans up and returns the message. Called once, on another thread.</param>
    public Interruption(Progress? progress, Func<string> clean)
    {
        (_progress, _clean) = (progress, clean);
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => End(signal, ExitCode.Interrupted));
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => End(signal, ExitCode.Terminated));
    }

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
    }

    private void End(PosixSignalContext signal, int code)
    {
        if (Interlocked.Exchange(ref _isEnding, 1) != 0)
        {
            return;
        }

        signal.Cancel = true;
        _progress?.End();
        Console.Error.WriteLine($"Interrupted. {CleanUpAndDescribe()}");
        Environment.Exit(code);
    }

    private string CleanUpAndDescribe()
    {
        try
        {
            return _clean();
        }
        catch (Exception failure)
            when (failure is IOException or UnauthorizedAccessException or ObjectDisposedException)
        {
            return failure.Message;
        }
    }
}
