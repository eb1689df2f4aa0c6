using System.Runtime.InteropServices;
using Rookery.Hosting;

namespace Rookery.Terminal;

/// <summary>
/// Ends a long command at Ctrl+C, SIGTERM, SIGHUP or SIGQUIT, with a message about what was done and how to continue. A
/// second signal ends the command at once. A signal that the process was started to ignore (<c>nohup</c>) stays
/// ignored.
/// </summary>
internal sealed class Interruption : IDisposable
{
    private readonly Func<string> _clean;
    private readonly Progress? _progress;
    private readonly IReadOnlyList<PosixSignalRegistration> _signals;
    private int _isEnding;

    /// <summary>Registers the signal handlers until it is disposed.</summary>
    /// <param name="progress">The progress display, which the interruption ends; null for none.</param>
    /// <param name="clean">Cleans up and returns the message. Called once, on another thread.</param>
    public Interruption(Progress? progress, Func<string> clean)
    {
        (_progress, _clean) = (progress, clean);
        _signals = EndingSignals.Register(End);
    }

    public void Dispose()
    {
        foreach (var signal in _signals)
        {
            signal.Dispose();
        }
    }

    private void End(PosixSignalContext signal)
    {
        if (Interlocked.Exchange(ref _isEnding, 1) != 0)
        {
            return;
        }

        signal.Cancel = true;
        _progress?.End();
        Console.Error.WriteLine($"Interrupted. {CleanUpAndDescribe()}");
        Environment.Exit(EndingSignals.ExitCodeOf(signal.Signal));
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
