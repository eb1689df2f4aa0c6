using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>
/// Bounds how long a command waits while a node sends nothing, before or within a response. So it detects a process
/// that hangs. TCP keep-alive only detects a machine without power.
/// </summary>
internal static class ResponseWait
{
    /// <summary>The longest wait for a node that sends nothing, for example because its disk stalls.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromMinutes(2);

    /// <summary>The longest wait for the answer to a long request, while the node answers other requests.</summary>
    public static readonly TimeSpan LongestWork = TimeSpan.FromHours(1);

    /// <summary>Awaits work at a node for at most <see cref="Longest"/>.</summary>
    /// <param name="address">The node's address, for the message.</param>
    /// <param name="time">The clock.</param>
    /// <param name="work">The work to await.</param>
    /// <param name="cancellation">Cancels the work.</param>
    /// <exception cref="AdminException">The node sent nothing in that time.</exception>
    public static Task<T> BoundAsync<T>(
        Uri address,
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        CancellationToken cancellation = default
    ) =>
        BoundAsync(
            time,
            work,
            $"The node at {address} sent nothing for {Longest.TotalSeconds:0} s, although the connection is open: "
                + "the node or its disk hangs. The data received so far are incomplete. Check `rookery status` "
                + "and the log on that node; try again, or use another node.",
            cancellation
        );

    /// <summary>
    /// Awaits the beginning of a response for at most <see cref="Longest"/>; otherwise as
    /// <see cref="BoundAsync{T}(Uri, TimeProvider, Func{CancellationToken, Task{T}}, CancellationToken)"/>.
    /// </summary>
    public static Task<T> BoundBeginningAsync<T>(
        Uri address,
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        CancellationToken cancellation = default
    ) =>
        BoundAsync(
            time,
            work,
            $"The node at {address} accepted the request, but did not begin its response within "
                + $"{Longest.TotalSeconds:0} s: it hangs, or the request waits for other work or a slow disk. Nothing "
                + "was received. Check `rookery status` and the log on that node; try again, or use another node.",
            cancellation
        );

    /// <summary>
    /// Awaits a part of the response to a request that may take long, such as a query or a write: as long as the node
    /// answers other requests, but for at most <see cref="LongestWork"/>. Sends such another request after each
    /// <see cref="Longest"/> without data.
    /// </summary>
    /// <param name="node">The node.</param>
    /// <param name="time">The clock.</param>
    /// <param name="work">The work to await.</param>
    /// <param name="longestWork">The longest wait in all; null for <see cref="LongestWork"/>.</param>
    /// <param name="cancellation">Cancels the work.</param>
    /// <exception cref="AdminException">The node answers nothing, or sent nothing for too long.</exception>
    public static Task<T> BoundLongWorkAsync<T>(
        NodeConnection node,
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        TimeSpan? longestWork = null,
        CancellationToken cancellation = default
    ) =>
        BoundWhileAnsweringAsync(
            node.Address,
            time,
            work,
            async ends => await NodeChoice.WhyNoAnswerAsync(node, ends) is null,
            cancellation,
            longestWork
        );

    /// <summary>
    /// As <see cref="BoundLongWorkAsync"/>; <paramref name="answersOthers"/> finds out whether the node answers other
    /// requests.
    /// </summary>
    internal static async Task<T> BoundWhileAnsweringAsync<T>(
        Uri address,
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        Func<CancellationToken, Task<bool>> answersOthers,
        CancellationToken cancellation,
        TimeSpan? longestWork = null
    )
    {
        var longest = longestWork ?? LongestWork;
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        var awaited = work(ends.Token);
        long startedAt = time.GetTimestamp();
        while (true)
        {
            try
            {
                return await awaited.WaitAsync(Longest, time, cancellation);
            }
            catch (TimeoutException) when (!awaited.IsCompleted)
            {
                // The code below checks whether the node answers other requests.
            }
            catch (OperationCanceledException) when (!awaited.IsCompleted)
            {
                // The caller's token may end this wait before it ends the work, which would then continue unattended.
                await ends.CancelAsync();
                throw;
            }

            bool isOverdue = time.GetElapsedTime(startedAt) >= longest;
            if (!isOverdue && await answersOthers(cancellation))
            {
                continue;
            }

            cancellation.ThrowIfCancellationRequested();
            await ends.CancelAsync();
            throw new AdminException(
                $"The node at {address} accepted the request and has sent nothing for "
                    + (
                        isOverdue
                            ? $"{longest.TotalHours:0} h, so the command gives up. "
                            : $"{Longest.TotalSeconds:0} s, and it answers no other request either: it hangs. "
                    )
                    + "If the request was a write, it may still be executed: look before you repeat it. Check "
                    + "`rookery status` and the log on that node; try again, or use another node.",
                ExitCode.Failure
            );
        }
    }

    private static async Task<T> BoundAsync<T>(
        TimeProvider time,
        Func<CancellationToken, Task<T>> work,
        string message,
        CancellationToken cancellation
    )
    {
        using var timeout = new CancellationTokenSource(Longest, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellation);
        try
        {
            return await work(linked.Token);
        }
        catch (OperationCanceledException)
            when (timeout.IsCancellationRequested && !cancellation.IsCancellationRequested)
        {
            throw new AdminException(message, ExitCode.Failure);
        }
    }
}
