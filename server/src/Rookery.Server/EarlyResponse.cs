using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Rookery.Server;

/// <summary>
/// Reads the rest of a request body after an error was sent. Closing a connection with unread bytes resets it, and a
/// reset can discard the answer before the client has read it.
/// </summary>
internal static class EarlyResponse
{
    /// <summary>Maximum bytes to read after the answer.</summary>
    public const int MaxBytes = 64 << 20;

    // A client that reads the answer stops sending. A client that continues to send is disconnected after this time.
    private static readonly TimeSpan MaxTime = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan MaxSilence = TimeSpan.FromSeconds(1);

    /// <summary>Whether the answer is an error and the request has a body that may be unread.</summary>
    public static bool IsDue(HttpContext http) =>
        http.Response.StatusCode >= StatusCodes.Status400BadRequest
        && http.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: true };

    /// <summary>
    /// Sends the answer and reads the body to its end. Gives up if the client is silent for a second, or after
    /// <see cref="MaxBytes"/> or 10 s. Then it closes the connection, because Kestrel would wait for the rest of the
    /// body for 5 s or more.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="time">The clock.</param>
    /// <param name="stopping">Cancelled when the node stops: reading then ends after a second, counted from the stop or
    /// from the answer, whichever is later.</param>
    public static async Task ReadOnAsync(HttpContext http, TimeProvider time, CancellationToken stopping)
    {
        bool hasBodyEnded = false;
        try
        {
            await http.Response.CompleteAsync();
            if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            {
                size.MaxRequestBodySize = null;
            }

            hasBodyEnded = await ReadAsync(http.Request.BodyReader, time, stopping, http.RequestAborted);
        }
        catch (Exception failure) when (failure is IOException or BadHttpRequestException or OperationCanceledException)
        {
            // The client left or sends malformed bytes, so waiting longer is useless.
        }
        catch (InvalidOperationException)
        {
            // The handler's own read is still pending, so nothing can be read here. Give the client a second to read
            // the answer.
            await Task.Delay(MaxSilence, time, http.RequestAborted)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        if (!hasBodyEnded)
        {
            http.Abort();
        }
    }

    /// <summary>Reads the body until it ends or a limit is reached.</summary>
    /// <returns>Whether the body ended.</returns>
    private static async Task<bool> ReadAsync(
        PipeReader body,
        TimeProvider time,
        CancellationToken stopping,
        CancellationToken disconnected
    )
    {
        long start = time.GetTimestamp();
        using var silence = new CancellationTokenSource(MaxSilence, time);
        using var stopDeadline = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        await using var stop = stopping.UnsafeRegister(
            static stopDeadline => ((CancellationTokenSource)stopDeadline!).CancelAfter(MaxSilence),
            stopDeadline
        );
        using var limitReached = CancellationTokenSource.CreateLinkedTokenSource(
            silence.Token,
            stopDeadline.Token,
            disconnected
        );

        // The read gets no cancellation token: Kestrel treats a cancelled read as still open.
        await using var interrupt = limitReached.Token.UnsafeRegister(
            static reader => ((PipeReader)reader!).CancelPendingRead(),
            body
        );
        long bytes = 0;
        while (bytes < MaxBytes && time.GetElapsedTime(start) < MaxTime)
        {
            var read = await body.ReadAsync(CancellationToken.None);
            bytes += read.Buffer.Length;
            body.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted || limitReached.IsCancellationRequested)
            {
                return read.IsCompleted;
            }

            silence.CancelAfter(MaxSilence);
        }

        return false;
    }
}
