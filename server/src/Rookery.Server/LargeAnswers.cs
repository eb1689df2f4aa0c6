using System.Threading.Channels;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// Answers that are put together whole in memory, of figures and of the disk's work: few at once, so that whoever asks
/// for many of them costs no more than these. Thread-safe.
/// </summary>
internal sealed class LargeAnswers
{
    /// <summary>How many are made and sent at once.</summary>
    public const int Most = 4;

    // A page asks for some at once; they are made one after the other.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    // Some MiB at most: who takes longer for them leaves the turn to others.
    private static readonly TimeSpan LongestSending = TimeSpan.FromMinutes(1);

    private readonly TimeProvider _time;
    private readonly Channel<bool> _turns = Channel.CreateBounded<bool>(Most);

    /// <summary>All turns are free.</summary>
    /// <param name="time">The clock.</param>
    public LargeAnswers(TimeProvider time)
    {
        _time = time;
        while (_turns.Writer.TryWrite(item: true))
        {
            // One for each that may be under way.
        }
    }

    /// <summary>Answers with <paramref name="answer"/> when it is its turn, or says that too many are.</summary>
    /// <param name="http">The request.</param>
    /// <param name="answer">Puts it together and sends it.</param>
    public async Task SendAsync(HttpContext http, Func<Task> answer)
    {
        if (!_turns.Reader.TryRead(out _) && !await WaitAsync(http.RequestAborted))
        {
            http.Response.Headers.RetryAfter = "1";
            await ErrorAnswer.WriteAsync(
                http,
                StatusCodes.Status429TooManyRequests,
                ErrorAnswer.RavenException,
                $"{Most} answers with histories or disk work are being sent by this node already, which is "
                    + $"the most. Try again in a second."
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

    /// <summary>A reader that takes its time is left: half an answer must not look like a whole one.</summary>
    private async Task SendInTimeAsync(HttpContext http, Task sending)
    {
        if (!sending.IsCompleted)
        {
            using var late = _time.CreateTimer(
                static left => ((HttpContext)left!).Abort(),
                http,
                LongestSending,
                Timeout.InfiniteTimeSpan
            );
            await sending;
            return;
        }

        await sending;
    }

    private async Task<bool> WaitAsync(CancellationToken left)
    {
        using var patience = new CancellationTokenSource(Patience, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, left);
        try
        {
            await _turns.Reader.ReadAsync(either.Token);
            return true;
        }
        catch (OperationCanceledException) when (!left.IsCancellationRequested)
        {
            return false;
        }
    }
}
