using Rookery.Cluster.Commit;
using Rookery.Cluster.Peers;
using Rookery.Platform;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Runs the tasks of a background loop, which calls it in each round. A failed task is logged, does not prevent the
/// other tasks, and is tried again in the next round. A violated invariant ends the process.
/// </summary>
/// <param name="heading">The beginning of the logged sentence, which names the failed work and ends without a
/// period.</param>
/// <param name="log">Receives failures.</param>
/// <param name="time">The clock.</param>
internal sealed class RetriedTasks(string heading, Action<string> log, TimeProvider time)
{
    private readonly RateLimitedLog _log = new(log, time);

    /// <summary>Runs a task, and logs its exception instead of throwing it.</summary>
    /// <param name="task">The task.</param>
    /// <param name="stopping">Cancelled when the loop stops. Failures are not logged then, because the task may use
    /// disposed objects.</param>
    public async Task TryAsync(Func<Task> task, CancellationToken stopping)
    {
        try
        {
            await task();
        }
        catch (Exception failure)
        {
            ReportFailure(failure, stopping);
        }
    }

    /// <inheritdoc cref="TryAsync"/>
    public void Try(Action task, CancellationToken stopping)
    {
        try
        {
            task();
        }
        catch (Exception failure)
        {
            ReportFailure(failure, stopping);
        }
    }

    private void ReportFailure(Exception failure, CancellationToken stopping)
    {
        if (failure is InvariantViolationException)
        {
            CommitThreads.EndProcess(failure);
        }

        if (!stopping.IsCancellationRequested)
        {
            _log.Report($"{heading}: {failure.Message}");
        }
    }
}
