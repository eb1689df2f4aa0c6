using System.Runtime.InteropServices;
using Rookery.Hosting;

namespace Rookery.Terminal;

/// <summary>
/// Ends long work at Ctrl+C or SIGTERM with a sentence: what is done, and how to go on. A second signal ends it
/// without.
/// </summary>
internal sealed class Interruption : IDisposable
{
    private readonly Func<string> _clean;
    private readonly Progress? _progress;
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;
    private int _isEnding;

    /// <summary>Waits for it from now on, until it is disposed of.</summary>
    /// <param name="progress">What is drawn meanwhile, which ends with it.</param>
    /// <param name="clean">Takes away what must not stay, and says how things stand; called on another thread,
    /// once.</param>
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
        Console.Error.WriteLine($"Interrupted. {Clean()}");
        Environment.Exit(code);
    }

    private string Clean()
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
