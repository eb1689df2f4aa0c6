using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Rookery.Server;

/// <summary>
/// Reads on behind a refusal that was sent while its request was still coming. A connection that is closed with bytes
/// unread is reset, and a reset takes the answer away from a client that has not read it yet.
/// </summary>
internal static class EarlyAnswer
{
    /// <summary>Bytes that are read behind a refusal, at most.</summary>
    public const int MostBytes = 64 << 20;

    // A client that read the answer stops to send; one that does not stop is cut off.
    private static readonly TimeSpan MostTime = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan MostSilence = TimeSpan.FromSeconds(1);

    /// <summary>Whether a request was refused that has a body, of which some may be unread.</summary>
    public static bool IsDue(HttpContext http) =>
        http.Response.StatusCode >= StatusCodes.Status400BadRequest
        && http.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: true };

    /// <summary>
    /// Sends the answer and reads on: until the body ends, its client is silent for a second, or has sent too much or
    /// for too long. Closes the connection where the body did not end: the server would wait for it, 5 s and more.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="time">The clock.</param>
    /// <param name="stopping">Cancelled when the node stops: then it reads on for a second at most, from the stop or
    /// from the answer, whichever comes last.</param>
    public static async Task ReadOnAsync(HttpContext http, TimeProvider time, CancellationToken stopping)
    {
        bool isWhole = false;
        try
        {
            await http.Response.CompleteAsync();
            if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            {
                size.MaxRequestBodySize = null;
            }

            isWhole = await ReadAsync(http.Request.BodyReader, time, stopping, http.RequestAborted);
        }
        catch (Exception over) when (over is IOException or BadHttpRequestException or OperationCanceledException)
        {
            // The client left, or sends what cannot be read: there is nobody left to wait for.
        }
        catch (InvalidOperationException)
        {
            // A read of the handler is open, so that nothing can be read: the client has a second to read the answer.
            await Task.Delay(MostSilence, time, http.RequestAborted)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        if (!isWhole)
        {
            http.Abort();
        }
    }

    /// <summary>Reads on.</summary>
    /// <returns>Whether the body ended.</returns>
    private static async Task<bool> ReadAsync(
        PipeReader body,
        TimeProvider time,
        CancellationToken stopping,
        CancellationToken left
    )
    {
        long begun = time.GetTimestamp();
        using var silence = new CancellationTokenSource(MostSilence, time);
        using var last = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        await using var stop = stopping.UnsafeRegister(
            static last => ((CancellationTokenSource)last!).CancelAfter(MostSilence),
            last
        );
        using var end = CancellationTokenSource.CreateLinkedTokenSource(silence.Token, last.Token, left);

        // Not a token of the read: the server takes a read that was ended by one for open.
        await using var interrupt = end.Token.UnsafeRegister(
            static reader => ((PipeReader)reader!).CancelPendingRead(),
            body
        );
        long bytes = 0;
        while (bytes < MostBytes && time.GetElapsedTime(begun) < MostTime)
        {
            var read = await body.ReadAsync(CancellationToken.None);
            bytes += read.Buffer.Length;
            body.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted || end.IsCancellationRequested)
            {
                return read.IsCompleted;
            }

            silence.CancelAfter(MostSilence);
        }

        return false;
    }
}
