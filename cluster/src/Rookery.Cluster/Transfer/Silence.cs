namespace Rookery.Cluster.Transfer;

/// <summary>
/// Time limits for another member's silence. A member that loses power after it received a request leaves nothing to
/// retransmit, so TCP would wait for its response for ever, and the whole fetch with it.
/// </summary>
internal static class Silence
{
    /// <summary>Between pieces of a response, and before a response that needs no preparation.</summary>
    public static readonly TimeSpan BetweenPieces = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Before an offer, which waits for other background work but for no flush. No longer, because a next leader is not
    /// asked meanwhile.
    /// </summary>
    public static readonly TimeSpan BeforeOffer = TimeSpan.FromMinutes(1);

    /// <summary>Before a response that may need a flush.</summary>
    public static readonly TimeSpan BeforeFlushed = TimeSpan.FromMinutes(5);

    /// <summary>Runs <paramref name="ask"/> with a time limit.</summary>
    /// <exception cref="TimeoutException">The time limit passed.</exception>
    /// <exception cref="OperationCanceledException">The caller cancelled.</exception>
    public static async Task<T> RunAsync<T>(
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
