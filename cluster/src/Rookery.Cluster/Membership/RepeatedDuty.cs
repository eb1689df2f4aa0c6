using Rookery.Cluster.Commit;
using Rookery.Cluster.Peers;
using Rookery.Platform;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Duties of a loop that nobody awaits. Whatever goes wrong with one of them is told, the others are done, and it is
/// done again the next time; a broken rule ends the process.
/// </summary>
/// <param name="what">What could not be done, as the beginning of a sentence.</param>
/// <param name="log">Told when something went wrong.</param>
/// <param name="time">The clock.</param>
internal sealed class RepeatedDuty(string what, Action<string> log, TimeProvider time)
{
    private readonly RepeatedLog _log = new(log, time);

    /// <summary>Does one.</summary>
    /// <param name="duty">What to do.</param>
    /// <param name="stopping">When the loop ends: what the duty works with may be gone then, and nothing is
    /// told.</param>
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
