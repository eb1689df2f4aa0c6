using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Divides the work of a long answer into turns of 10 ms, so that other requests run in between. It ends the work when
/// the client closes the connection or the node stops. Not thread-safe.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="http">The request.</param>
internal sealed class WorkTurns(ServerContext context, HttpContext http)
{
    /// <summary>How long an answer works before it yields.</summary>
    public static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(10);

    // Skipping so many documents takes less time than a turn.
    private const int PassedBetweenChecks = 1024;

    private long _begun = context.Time.GetTimestamp();
    private int _passed;

    /// <summary>Yields if the turn is over. Call it before each piece of work.</summary>
    /// <exception cref="OperationCanceledException">The client closed the connection, or the node stops.</exception>
    public ValueTask YieldWhenDueAsync() =>
        context.Time.GetElapsedTime(_begun) <= Turn ? ValueTask.CompletedTask : YieldAsync();

    /// <summary>Checks for cancellation at every 1,024th call. Call it for each document that is skipped.</summary>
    /// <exception cref="OperationCanceledException">The client closed the connection, or the node stops.</exception>
    public void CountSkipped()
    {
        if (++_passed == PassedBetweenChecks)
        {
            _passed = 0;
            Check();
        }
    }

    /// <summary>Throws if the work must end. Call it now and then within a long piece of work.</summary>
    /// <exception cref="OperationCanceledException">The client closed the connection, or the node stops.</exception>
    // Reading the token of a request makes Kestrel allocate, so callers do not check at each step.
    public void Check()
    {
        http.RequestAborted.ThrowIfCancellationRequested();
        context.Stopping.ThrowIfCancellationRequested();
    }

    private async ValueTask YieldAsync()
    {
        Check();
        await Task.Yield();
        _begun = context.Time.GetTimestamp();
    }
}
