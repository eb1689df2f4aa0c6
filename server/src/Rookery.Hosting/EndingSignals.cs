using System.Runtime.InteropServices;

namespace Rookery.Hosting;

/// <summary>The signals that ask a process to end and that it can handle.</summary>
public static class EndingSignals
{
    /// <summary>Registers a handler of all of them, which the caller disposes of.</summary>
    public static IReadOnlyList<PosixSignalRegistration> Register(Action<PosixSignalContext> handler)
    {
        PosixSignal[] signals = [PosixSignal.SIGINT, PosixSignal.SIGTERM, PosixSignal.SIGHUP, PosixSignal.SIGQUIT];
        return [.. signals.Select(signal => PosixSignalRegistration.Create(signal, handler))];
    }

    /// <summary>Returns the exit code of a process that a signal ended: 128 and the number of the signal.</summary>
    public static int ExitCodeOf(PosixSignal signal) =>
        signal switch
        {
            PosixSignal.SIGHUP => ExitCode.HungUp,
            PosixSignal.SIGQUIT => ExitCode.Quit,
            PosixSignal.SIGTERM => ExitCode.Terminated,
            _ => ExitCode.Interrupted,
        };
}
