using Rookery.Cluster.Commit;
using Rookery.Cluster.Peers;
using Rookery.Platform;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Runs the duties of a background loop. A failure of one duty is logged and does not prevent the others; the duty runs
/// again in the next round. A broken invariant ends the process.
/// </summary>
/// <param name="what">The beginning of the logged sentence: what failed.</param>
/// <param name="log">Receives failures.</param>
/// <param name="time">The clock.</param>
internal sealed class RepeatedDuty(string what, Action<string> log, TimeProvider time)
{
    private readonly RepeatedLog _log = new(log, time);

    /// <summary>Runs a duty.</summary>
    /// <param name="duty">The duty.</param>
    /// <param name="stopping">Cancelled when the loop stops. Failures are not logged then, because what the duty uses
    /// may be disposed.</param>
    public async Task TryAsync(Func<Task> duty, CancellationToken stopping)
    {
        try
        {
            await duty();
        }
        catch (Exception failure)
        {
            Tell(failure, stopping);
        }
    }

    /// <inheritdoc cref="TryAsync"/>
    public void Try(Action duty, CancellationToken stopping)
    {
        try
        {
            duty();
        }
        catch (Exception failure)
        {
            Tell(failure, stopping);
        }
    }

    private void Tell(Exception failure, CancellationToken stopping)
    {
        if (failure is InvariantViolationException)
        {
            CommitThreads.EndProcess(failure);
        }

        if (!stopping.IsCancellationRequested)
        {
            _log.Tell($"{what}: {failure.Message}");
        }
    }
}
