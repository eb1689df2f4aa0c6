using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using Rookery.Board;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Observation;

/// <summary>
/// POST /admin/node/find?node=TAG&amp;seconds=30: blinks the light of that node's board, so that people can find the
/// board.
/// </summary>
internal sealed class FindRoute(ServerContext context)
{
    private const int DefaultSeconds = 30;
    private const int MaxSeconds = 300;

    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(5);

    private readonly BlinkingLight _blinking = new(context.Time, new SemaphoreSlim(1));

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapMethods("/admin/node/find", [HttpMethods.Post], RavenRoute.OnServer(new FindRoute(context).AnswerAsync))
            .WithMetadata(WithoutData.Instance)
            .OnAnyMember("seconds")
            .For(RouteScope.Admin);

    private async Task AnswerAsync(HttpContext http)
    {
        long seconds = new QueryParameters(http).Number("seconds", DefaultSeconds);
        if (seconds is < 1 or > MaxSeconds)
        {
            throw RefusedException.BadRequest(
                string.Create(CultureInfo.InvariantCulture, $"'seconds' must be 1 to {MaxSeconds}.")
            );
        }

        if (context.Options.Board?.Board.Light is not { } light)
        {
            throw RefusedException.NotSupported(
                $"Node {context.Options.NodeTag} runs on a machine without a light that it could blink: "
                    + $"there is none under /sys/class/leds called ACT, led0, PWR or led1."
            );
        }

        await _blinking.BlinkForAsync(TimeSpan.FromSeconds(seconds), () => Begin(light), http.RequestAborted);
        context.Log.LogInformation(
            LogEvents.BoardSought,
            "'{Who}' looks for this board: its light {Light} blinks for {Seconds} s.",
            Principal.Of(http).Name,
            light.Name,
            seconds
        );
        await EmptyResponse.AnswerNoContent(http);
    }

    private IDisposable Begin(IBoardLight light)
    {
        var blinking =
            light.TryBlink(out string? whyNot)
            ?? throw RefusedException.NotSupported(
                $"Node {context.Options.NodeTag} may not blink the light {light.Name} of its board: "
                    + $"{whyNot}. The user that runs the node must be able to write trigger and brightness in "
                    + $"/sys/class/leds/{light.Name}; the package sets that up."
            );
        if (context.Background.TryBegin("the blinking light", StopWhenDueAsync))
        {
            return blinking;
        }

        blinking.Dispose();
        throw RefusedException.NodeStops();
    }

    private async Task StopWhenDueAsync()
    {
        try
        {
            while (await _blinking.StopIfDueAsync(context.Stopping) is { } remaining)
            {
                await Task.Delay(remaining, context.Time, context.Stopping);
            }
        }
        catch (OperationCanceledException)
        {
            await StopSoonAsync();
        }
    }

    // The node stops; the light returns to its previous state, unless its driver hangs.
    private async Task StopSoonAsync()
    {
        using var timeout = new CancellationTokenSource(StopTimeout, context.Time);
        try
        {
            await _blinking.StopAsync(timeout.Token);
        }
        catch (OperationCanceledException)
        {
            // The process ends all the same.
        }
    }
}
