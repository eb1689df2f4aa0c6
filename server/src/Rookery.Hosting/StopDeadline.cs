using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Limits how long the process takes to stop. If a disk does not answer, systemd would kill the process without an
/// explanation. At the deadline this class logs which part did not end and exits.
/// </summary>
/// <remarks>No acknowledged write is lost by the exit: all are in the journal, and synced.</remarks>
internal sealed class StopDeadline : IDisposable
{
    /// <summary>How long a stop may take. The unit's TimeoutStopSec is longer.</summary>
    public static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(60);

    private readonly ILogger _log;
    private readonly Action<int> _exit;
    private readonly ITimer _timer;

    /// <summary>Starts the deadline.</summary>
    /// <param name="log">The log, which gets the name of the part that did not end.</param>
    /// <param name="time">The clock.</param>
    /// <param name="exit">Ends the process with a code.</param>
    public StopDeadline(ILogger log, TimeProvider time, Action<int> exit)
    {
        (_log, _exit) = (log, exit);
        _timer = time.CreateTimer(
            static late => ((StopDeadline)late!).End(),
            this,
            StopTimeout,
            Timeout.InfiniteTimeSpan
        );
    }

    /// <summary>The part that is awaited now, as the subject of a sentence.</summary>
    public string Awaited { get; set; } = "The node's current work";

    /// <summary>Cancels the deadline, because the node has stopped.</summary>
    public void Dispose() => _timer.Dispose();

    private void End()
    {
        _log.LogError(
            LogEvents.StopOverdue,
            "{Awaited} did not end within {Seconds} s of the stop, so the process exits as in a power cut. Every "
                + "acknowledged write is in the journal, and the next start recovers it.",
            Awaited,
            StopTimeout.TotalSeconds
        );
        _exit(ExitCode.Failure);
    }
}
