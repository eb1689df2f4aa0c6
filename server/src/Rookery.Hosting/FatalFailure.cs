using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Logs why the process ends if a thread of the node, such as "indexing" or "maintenance", does not handle an
/// exception. Otherwise only the runtime's stack trace would be left.
/// </summary>
internal sealed partial class FatalFailure : IDisposable
{
    private readonly ILogger _log;
    private readonly Action<int> _exit;

    /// <summary>Observes the process until disposed.</summary>
    /// <param name="log">The log, which gets the reason.</param>
    public FatalFailure(ILogger log)
        : this(log, ExitAtOnce) => AppDomain.CurrentDomain.UnhandledException += Report;

    /// <summary>Observes nothing; for <see cref="Report(string?, Exception)"/> alone.</summary>
    /// <param name="log">The log, which gets the reason.</param>
    /// <param name="exit">Ends the process with a code.</param>
    internal FatalFailure(ILogger log, Action<int> exit) => (_log, _exit) = (log, exit);

    public void Dispose() => AppDomain.CurrentDomain.UnhandledException -= Report;

    /// <summary>
    /// Logs the failure of a thread. Without memory it ends the process; otherwise the runtime ends it, with a core
    /// dump that shows the fault.
    /// </summary>
    /// <param name="thread">The thread's name; null if it has none.</param>
    /// <param name="failure">The unhandled exception.</param>
    internal void Report(string? thread, Exception failure)
    {
        bool isOutOfMemory = IsLackOfMemory(failure);
        try
        {
            _log.LogError(
                LogEvents.FatalFailure,
                "The node ends, because its thread \"{Thread}\" {Reason}. Every acknowledged write is in the "
                    + "journal, and the next start recovers it.",
                thread ?? "unnamed",
                isOutOfMemory
                    ? "has no memory: give the node more with --memory, or less to do at once"
                    : $"failed through a fault of the program: {failure.Message.TrimEnd('.')}"
            );
        }
        catch (OutOfMemoryException)
        {
            // There is not enough memory to format the sentence either.
        }
        finally
        {
            if (isOutOfMemory)
            {
                _exit(ExitCode.Failure);
            }
        }
    }

    // Looks also at inner exceptions, because static constructors and tasks wrap the exception.
    private static bool IsLackOfMemory(Exception? failure)
    {
        while (failure is not (null or OutOfMemoryException))
        {
            failure = failure.InnerException;
        }

        return failure is not null;
    }

    private void Report(object sender, UnhandledExceptionEventArgs unhandled)
    {
        if (unhandled.ExceptionObject is Exception failure)
        {
            Report(Thread.CurrentThread.Name, failure);
        }
    }

    // Not Environment.Exit: it waits for threads and runs handlers, which need memory.
    [LibraryImport("libc", EntryPoint = "_exit")]
    private static partial void ExitAtOnce(int code);
}
