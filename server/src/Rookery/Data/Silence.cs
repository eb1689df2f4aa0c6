using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>
/// Bounds how long a node may send nothing in the middle of a response. It detects a process that hangs. TCP keep-alive
/// only detects a machine without power.
/// </summary>
internal static class Silence
{
    /// <summary>The longest silence. It also bounds the wait for a disk that stalls.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromMinutes(2);

    /// <summary>Awaits work at a node for at most <see cref="Longest"/>.</summary>
    /// <param name="address">The node's address, for the message.</param>
    /// <param name="time">The clock.</param>
    /// <param name="work">The work to await.</param>
    /// <param name="cancellation">Cancels the work.</param>
    /// <exception cref="AdminException">The node sent nothing in that time.</exception>
    public static async Task<T> BoundAsync<T>(
        Uri address,
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        CancellationToken cancellation = default
    )
    {
        using var silence = new CancellationTokenSource(Longest, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(silence.Token, cancellation);
        try
        {
            return await work(linked.Token);
        }
        catch (OperationCanceledException)
            when (silence.IsCancellationRequested && !cancellation.IsCancellationRequested)
        {
            throw new AdminException(
                $"The node at {address} sent nothing for {Longest.TotalSeconds:0} s, although the connection is open: "
                    + $"the node or its disk hangs. The data received so far are incomplete. Check `rookery status` "
                    + $"and the log on that node; try again, or use another node.",
                ExitCode.Failure
            );
        }
    }
}
