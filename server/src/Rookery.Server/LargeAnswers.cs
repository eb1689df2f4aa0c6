using System.Threading.Channels;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// Limits answers that are built in memory as a whole (histories, disk work) to <see cref="MaxConcurrent"/> at once, so
/// that many requests for them cannot exhaust memory. Thread-safe.
/// </summary>
internal sealed class LargeAnswers
{
    /// <summary>Maximum number of answers that are built and sent at once.</summary>
    public const int MaxConcurrent = 4;

    // The dashboard requests several answers at once. Those beyond the limit wait this long for a turn.
    private static readonly TimeSpan WaitTimeout = TimeSpan.FromSeconds(2);

    // An answer has a few MiB at most. After this time the connection is closed, which frees its turn.
    private static readonly TimeSpan SendTimeout = TimeSpan.FromMinutes(1);

    private readonly TimeProvider _time;
    private readonly Channel<bool> _turns = Channel.CreateBounded<bool>(MaxConcurrent);

    /// <summary>Creates the limit, with all turns free.</summary>
    /// <param name="time">The clock.</param>
    public LargeAnswers(TimeProvider time)
    {
        _time = time;
        while (_turns.Writer.TryWrite(item: true))
        {
            // One token for each answer that may be in progress.
        }
    }

    /// <summary>
    /// Sends <paramref name="answer"/> when a turn is free; answers 429 if none is free within two seconds.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="answer">Builds and sends the answer.</param>
    public async Task SendAsync(HttpContext http, Func<Task> answer)
    {
        if (!_turns.Reader.TryRead(out _) && !await WaitAsync(http.RequestAborted))
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status429TooManyRequests,
                ErrorResponse.RavenException,
                $"{MaxConcurrent} answers with histories or disk work are being sent by this node already, the "
                    + $"maximum. Try again in a second."
            );
            return;
        }

        try
        {
            await SendInTimeAsync(http, answer());
        }
        finally
        {
            _turns.Writer.TryWrite(item: true);
        }
    }

    /// <summary>
    /// Closes the connection of a client that reads too slowly, so that half an answer does not look complete.
    /// </summary>
    private async Task SendInTimeAsync(HttpContext http, Task sending)
    {
        if (!sending.IsCompleted)
        {
            using var abortTimer = _time.CreateTimer(
                static request => ((HttpContext)request!).Abort(),
                http,
                SendTimeout,
                Timeout.InfiniteTimeSpan
            );
            await sending;
            return;
        }

        await sending;
    }

    private async Task<bool> WaitAsync(CancellationToken disconnected)
    {
        using var waitTimeout = new CancellationTokenSource(WaitTimeout, _time);
        using var timeoutOrClient = CancellationTokenSource.CreateLinkedTokenSource(waitTimeout.Token, disconnected);
        try
        {
            await _turns.Reader.ReadAsync(timeoutOrClient.Token);
            return true;
        }
        catch (OperationCanceledException) when (!disconnected.IsCancellationRequested)
        {
            return false;
        }
    }
}
