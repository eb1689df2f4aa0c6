namespace Rookery.Queries.Answering;

/// <summary>
/// The time slices of a long answer, between which other requests run. Defines the length of a slice, and checks
/// whether the client disconnected or the node stops. Not thread-safe.
/// </summary>
/// <param name="disconnected">Returns the token that is cancelled when the client disconnects. Called rarely, because
/// the first call may allocate.</param>
/// <param name="stopping">Cancelled when the node stops.</param>
public abstract class TimeSlices(Func<CancellationToken> disconnected, CancellationToken stopping)
{
    /// <summary>Length of a time slice, after which other requests run.</summary>
    public static readonly TimeSpan SliceLength = TimeSpan.FromMilliseconds(10);

    /// <summary>Working time of a request whose client waits for results.</summary>
    public static readonly TimeSpan MaxWork = TimeSpan.FromMinutes(2);

    // Reading or skipping this many documents usually takes less than a slice.
    private const int ReadBetweenChecks = 1024;

    private int _read;

    /// <summary>
    /// Checks for cancellation at every 1,024th call. Call it for each document that is read or skipped.
    /// </summary>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public void CountRead()
    {
        if (++_read == ReadBetweenChecks)
        {
            _read = 0;
            CheckCancelled();
        }
    }

    /// <summary>Throws if the work must end. Call it now and then within a long piece of work.</summary>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public void CheckCancelled()
    {
        disconnected().ThrowIfCancellationRequested();
        stopping.ThrowIfCancellationRequested();
    }
}
