using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// Bounds how long the process takes to stop. A disk that answers no more would hold it up until systemd kills it
/// without a word; whoever waits for it learns why, and has it out of the way.
/// </summary>
/// <remarks>Nothing acknowledged is lost by it: that is in the journal, and synced.</remarks>
internal sealed class StopDeadline : IDisposable
{
    /// <summary>How long a stop may take; the unit's TimeoutStopSec is longer.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly ILogger _log;
    private readonly Action<int> _exit;
    private readonly ITimer _timer;

    /// <summary>A stop begins.</summary>
    /// <param name="log">Where it is told what did not end.</param>
    /// <param name="time">The clock.</param>
    /// <param name="exit">Ends the process with a code.</param>
    public StopDeadline(ILogger log, TimeProvider time, Action<int> exit)
    {
        (_log, _exit) = (log, exit);
        _timer = time.CreateTimer(static late => ((StopDeadline)late!).End(), this, Patience, Timeout.InfiniteTimeSpan);
    }

    /// <summary>What is waited for now, as the subject of a sentence.</summary>
    public string Awaited { get; set; } = "What the node was about to do";

    /// <summary>The node has stopped.</summary>
    public void Dispose() => _timer.Dispose();

    private void End()
    {
        _log.LogError(
            LogEvents.StopOverdue,
            "{Awaited} did not end within {Seconds} s of the stop, so the process ends as by a power cut. Every "
                + "acknowledged write is in the journal, and the next start recovers it.",
            Awaited,
            Patience.TotalSeconds
        );
        _exit(ExitCode.Failure);
    }
}
