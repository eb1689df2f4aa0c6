using Microsoft.AspNetCore.Http;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// Divides the work of a long answer into time slices of 10 ms, so that other requests run in between. It ends the work
/// when the client closes the connection or the node stops. Not thread-safe.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="http">The request.</param>
internal sealed class RequestTimeSlices(ServerContext context, HttpContext http)
    : TimeSlices(() => http.RequestAborted, context.Stopping)
{
    private long _sliceStart = context.Time.GetTimestamp();

    /// <summary>
    /// Whether the time slice is over. If so, release what the work holds and call <see cref="YieldAsync"/>.
    /// </summary>
    public bool IsSliceOver => context.Time.GetElapsedTime(_sliceStart) > SliceLength;

    /// <summary>Yields if the time slice is over. Call it before each piece of work.</summary>
    /// <exception cref="OperationCanceledException">The client closed the connection, or the node stops.</exception>
    public ValueTask YieldWhenDueAsync() => IsSliceOver ? YieldAsync() : ValueTask.CompletedTask;

    /// <summary>Ends the time slice, lets other requests run, and begins the next slice.</summary>
    /// <exception cref="OperationCanceledException">The client closed the connection, or the node stops.</exception>
    public async ValueTask YieldAsync()
    {
        CheckCancelled();
        await Task.Yield();
        _sliceStart = context.Time.GetTimestamp();
    }
}
