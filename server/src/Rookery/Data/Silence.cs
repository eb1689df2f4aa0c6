using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>
/// How long a node may send nothing in the middle of something. A machine without power is found by its connection; one
/// that hangs keeps that.
/// </summary>
internal static class Silence
{
    /// <summary>A disk that stalls longer is not waited for.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromMinutes(2);

    /// <summary>Waits for something of a node, for so long at most.</summary>
    /// <param name="address">Who is waited for, for the message.</param>
    /// <param name="time">The clock.</param>
    /// <param name="work">What is waited for.</param>
    /// <param name="cancellation">Ends it.</param>
    /// <exception cref="AdminException">Nothing came.</exception>
    public static async Task<T> BoundAsync<T>(
        Uri address,
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        CancellationToken cancellation = default
    )
    {
        using var silence = new CancellationTokenSource(Longest, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(silence.Token, cancellation);
        try
        {
            return await work(either.Token);
        }
        catch (OperationCanceledException)
            when (silence.IsCancellationRequested && !cancellation.IsCancellationRequested)
        {
            throw new AdminException(
                $"The node at {address} sent nothing for {Longest.TotalSeconds:0} s, though its connection "
                    + $"stands: it hangs, or its disk does. What came so far is not whole. `rookery status` on it "
                    + $"and its log say more; try again, or ask another node.",
                ExitCode.Failure
            );
        }
    }
}
