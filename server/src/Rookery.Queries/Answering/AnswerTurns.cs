namespace Rookery.Queries.Answering;

/// <summary>
/// What the time slices of all long answers have in common: their length, and the check whether the client disconnected
/// or the node stops. Not thread-safe.
/// </summary>
/// <param name="left">Reads the token of the client; called now and then only, because its first read may
/// allocate.</param>
/// <param name="stopping">Cancelled when the node stops.</param>
public abstract class AnswerTurns(Func<CancellationToken> left, CancellationToken stopping)
{
    /// <summary>Length of a time slice, after which other requests run.</summary>
    public static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(10);

    // An answer passes this many documents in less time than a slice.
    private const int PassedBetweenChecks = 1024;

    private int _passed;

    /// <summary>Checks for cancellation at every 1,024th call. Call it for each document that is skipped.</summary>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public void CountSkipped()
    {
        if (++_passed == PassedBetweenChecks)
        {
            _passed = 0;
            Check();
        }
    }

    /// <summary>Throws if the work must end. Call it now and then within a long piece of work.</summary>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public void Check()
    {
        left().ThrowIfCancellationRequested();
        stopping.ThrowIfCancellationRequested();
    }
}
