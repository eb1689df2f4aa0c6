namespace Rookery.Cluster.Transfer;

/// <summary>
/// Time limits for responses of another member. If a member loses power after it acknowledged a request, TCP has
/// nothing to retransmit and would wait for the response for ever.
/// </summary>
internal static class ResponseTimeout
{
    /// <summary>The limit between pieces of a response, and before a response that needs no preparation.</summary>
    public static readonly TimeSpan BetweenPieces = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The limit before an offer, which waits for other background work but for no flush. A longer limit would delay
    /// the fetch from the next leader.
    /// </summary>
    public static readonly TimeSpan BeforeOffer = TimeSpan.FromMinutes(1);

    /// <summary>The limit before a response that may need a flush.</summary>
    public static readonly TimeSpan BeforeFlushed = TimeSpan.FromMinutes(5);

    /// <summary>Runs <paramref name="ask"/> with a time limit.</summary>
    /// <exception cref="TimeoutException">The time limit passed.</exception>
    /// <exception cref="OperationCanceledException">The caller cancelled.</exception>
    public static async Task<T> RunAsync<T>(
        TimeSpan timeout,
        TimeProvider time,
        Func<CancellationToken, Task<T>> ask,
        CancellationToken cancellationToken
    )
    {
        using var silent = new CancellationTokenSource(timeout, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(silent.Token, cancellationToken);
        try
        {
            return await ask(linked.Token);
        }
        catch (OperationCanceledException cancelled) when (!cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException($"It has been silent for {timeout.TotalSeconds:0} s.", cancelled);
        }
    }
}
