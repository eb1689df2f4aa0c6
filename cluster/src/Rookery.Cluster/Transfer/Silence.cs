namespace Rookery.Cluster.Transfer;

/// <summary>
/// How long another member may say nothing. One that loses power after it took a request leaves nothing to retransmit,
/// so that TCP would wait for its answer for ever, and with it whatever waits for this.
/// </summary>
internal static class Silence
{
    /// <summary>Between pieces of an answer, and before one that is only read.</summary>
    public static readonly TimeSpan BetweenPieces = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Before an offer, which waits for other work of the background and for no flush. No longer, because whoever leads
    /// next is not asked meanwhile.
    /// </summary>
    public static readonly TimeSpan BeforeOffer = TimeSpan.FromMinutes(1);

    /// <summary>Before an answer that may need a flush.</summary>
    public static readonly TimeSpan BeforeFlushed = TimeSpan.FromMinutes(5);

    /// <summary>Asks, and waits so long.</summary>
    /// <exception cref="TimeoutException">Nothing came.</exception>
    /// <exception cref="OperationCanceledException">It was given up.</exception>
    public static async Task<T> AtMost<T>(
        TimeSpan patience,
        TimeProvider time,
        Func<CancellationToken, Task<T>> ask,
        CancellationToken cancellationToken
    )
    {
        using var silent = new CancellationTokenSource(patience, time);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(silent.Token, cancellationToken);
        try
        {
            return await ask(ended.Token);
        }
        catch (OperationCanceledException given) when (!cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException($"It has been silent for {patience.TotalSeconds:0} s.", given);
        }
    }
}
