using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Lets a long answer go on in turns with what else the node does, until its client leaves or the node stops. Not
/// thread-safe.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="http">The request.</param>
internal sealed class WorkTurns(ServerContext context, HttpContext http)
{
    /// <summary>How long an answer goes on before others go first.</summary>
    public static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(10);

    // So many documents are passed in less time than a turn.
    private const int PassedBetweenChecks = 1024;

    private long _begun = context.Time.GetTimestamp();
    private int _passed;

    /// <summary>Called before each piece of work: lets others work when the turn is over.</summary>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    public ValueTask TakeAsync() =>
        context.Time.GetElapsedTime(_begun) <= Turn ? ValueTask.CompletedTask : LetOthersAsync();

    /// <summary>Called for each document that is passed over without a piece of work.</summary>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    public void Pass()
    {
        if (++_passed == PassedBetweenChecks)
        {
            _passed = 0;
            Check();
        }
    }

    /// <summary>Called within a long piece of work, now and then.</summary>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    // Reading the token of a request makes Kestrel allocate, so it is not asked for each piece.
    public void Check()
    {
        http.RequestAborted.ThrowIfCancellationRequested();
        context.Stopping.ThrowIfCancellationRequested();
    }

    private async ValueTask LetOthersAsync()
    {
        Check();
        await Task.Yield();
        _begun = context.Time.GetTimestamp();
    }
}
