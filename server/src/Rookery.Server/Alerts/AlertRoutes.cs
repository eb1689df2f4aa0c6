using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Alerts;

/// <summary>
/// GET /dashboard/alerts: the catalogue of alerts. POST /admin/alerts/test: sends a test message to the webhook and
/// reports the result.
/// </summary>
internal static class AlertRoutes
{
    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        routes.MapWithoutData(
            "/dashboard/alerts",
            RouteScope.Metrics,
            static http => JsonResponse.SendAsync(http, WriteCatalogue)
        );
        routes
            .MapMethods("/admin/alerts/test", [HttpMethods.Post], RavenRoute.OnServer(http => TestAsync(http, context)))
            .WithMetadata(WithoutData.Instance)
            .For(RouteScope.Admin);
    }

    private static void WriteCatalogue(Utf8JsonWriter json)
    {
        json.WriteStartArray("Alerts"u8);
        foreach (var alert in AlertCatalogue.All)
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, alert.Name);
            json.WriteString("Severity"u8, alert.Severity);
            json.WriteString("Expression"u8, alert.Expression);
            json.WriteNumber("ForSeconds"u8, (long)alert.For.TotalSeconds);
            json.WriteNumber("KeepFiringSeconds"u8, (long)alert.KeepFiring.TotalSeconds);
            json.WriteBoolean("IsOwn"u8, alert.IsOwn);
            json.WriteString("Sentence"u8, alert.Sentence);
            json.WriteString("Fix"u8, alert.Fix);
            json.WriteString("Help"u8, alert.Help);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static async Task TestAsync(HttpContext http, ServerContext context)
    {
        if (context.AlertSender is not { } sender)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status409Conflict,
                ErrorResponse.RavenException,
                "No webhook is set: say where alerts are sent with \"webhook\" in the configuration file of "
                    + "this node, and start it again."
            );
            return;
        }

        if (await sender.TestAsync(http.RequestAborted) is { } failure)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status502BadGateway,
                ErrorResponse.RavenException,
                failure
            );
            return;
        }

        await JsonResponse.SendAsync(
            http,
            json => json.WriteString("Message"u8, $"{sender.WebhookPlace} accepted a test message.")
        );
    }
}
