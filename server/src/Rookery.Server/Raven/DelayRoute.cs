using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// GET admin/test/delay?value=…: answers after a number of milliseconds, so that clients can test their timeouts.
/// </summary>
internal sealed class DelayRoute(ServerContext context)
{
    private const int MaxMilliseconds = 60_000;

    public async Task HandleAsync(HttpContext http)
    {
        long milliseconds = new QueryParameters(http).Number("value", defaultValue: 0);
        if (milliseconds > MaxMilliseconds)
        {
            throw RefusedException.BadRequest($"The parameter 'value' is at most {MaxMilliseconds} milliseconds.");
        }

        using var ending = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        try
        {
            await Task.Delay(TimeSpan.FromMilliseconds(milliseconds), context.Time, ending.Token);
        }
        catch (OperationCanceledException) when (context.Stopping.IsCancellationRequested)
        {
            throw RefusedException.NodeStops();
        }

        await EmptyResponse.AnswerNoContent(http);
    }
}
