using System.Runtime.InteropServices;
using Rookery.Hosting;

namespace Rookery.Shell;

/// <summary>
/// Handles signals of the shell. At a prompt, Ctrl+C stops a running statement and not the shell. Each other signal,
/// and each signal to a script, stops the statement and then ends the process; a second one ends it at once.
/// </summary>
/// <param name="isPrompt">Whether statements come from a prompt.</param>
/// <param name="restore">Restores the terminal.</param>
internal sealed class ShellInterruption(bool isPrompt, Action restore) : IDisposable
{
    private readonly Lock _lock = new();
    private IReadOnlyList<PosixSignalRegistration> _signals = [];
    private CancellationTokenSource? _running;

    /// <summary>The exit code with which the process must end; null while it continues.</summary>
    public int? EndCode { get; private set; }

    /// <summary>Registers the handlers.</summary>
    public void Begin() => _signals = EndingSignals.Register(Handle);

    /// <summary>Runs a statement, whose token signals cancel.</summary>
    public async Task<int> RunAsync(Func<CancellationToken, Task<int>> statement)
    {
        using var running = new CancellationTokenSource();
        lock (_lock)
        {
            _running = running;
        }

        try
        {
            return await statement(running.Token);
        }
        finally
        {
            lock (_lock)
            {
                _running = null;
            }
        }
    }

    public void Dispose()
    {
        foreach (var signal in _signals)
        {
            signal.Dispose();
        }
    }

    private void Handle(PosixSignalContext signal)
    {
        signal.Cancel = true;
        bool endsStatementOnly = isPrompt && signal.Signal == PosixSignal.SIGINT;
        lock (_lock)
        {
            bool isSecond = EndCode is not null;
            EndCode = endsStatementOnly ? EndCode : EndingSignals.ExitCodeOf(signal.Signal);
            if (_running is not null && !isSecond)
            {
                // Cancel() would run what follows the statement on this thread, with the lock.
                _ = _running.CancelAsync();
                return;
            }
        }

        if (!endsStatementOnly)
        {
            restore();
            Environment.Exit(EndingSignals.ExitCodeOf(signal.Signal));
        }
    }
}
