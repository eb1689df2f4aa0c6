using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Databases;

namespace Rookery.Server.Alerts;

/// <summary>
/// GET /dashboard/alerts: the catalogue of alerts. /admin/alerts/webhook: where the cluster sends alerts, and its quiet
/// hours. POST /admin/alerts/test: sends a test message to the webhook and reports the result.
/// </summary>
internal static class AlertRoutes
{
    private const string Webhook = "/admin/alerts/webhook";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        routes
            .MapWithoutData(
                "/dashboard/alerts",
                RouteScope.Metrics,
                static http => JsonResponse.SendAsync(http, WriteCatalogue)
            )
            .Taking(RouteParameters.None);
        routes
            .MapMethods("/admin/alerts/test", [HttpMethods.Post], RavenRoute.OnServer(http => TestAsync(http, context)))
            .WithMetadata(WithoutData.Instance)
            .For(RouteScope.Admin)
            .Taking(RouteParameters.WithoutBody("consistency"));
        routes
            .MapMethods(Webhook, [HttpMethods.Get], RavenRoute.OnServer(http => GetAsync(http, context)))
            .For(RouteScope.Admin)
            .Taking(RavenParameters.Read);
        routes
            .MapMethods(Webhook, [HttpMethods.Put], RavenRoute.OnServer(http => PutAsync(http, context)))
            .For(RouteScope.Admin)
            .Taking(RouteParameters.None);
    }

    /// <summary>GET admin/alerts/webhook: where alerts are sent, without the part of the URL that may be
    /// secret.</summary>
    private static async Task GetAsync(HttpContext http, ServerContext context)
    {
        if (!await RavenRoute.TryPassBarrierAsync(context, http))
        {
            return;
        }

        var webhook = context.AlertSender?.Webhook;
        var settings = AlertSettings.Of(StoredSettings(context));
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Place"u8, webhook is null ? null : ShownSetting.PlaceOf(webhook.Url));
                json.WriteString("Form"u8, webhook?.Form);
                json.WriteBoolean("IsOfFile"u8, context.AlertSender?.IsOfFile ?? false);
                settings.WriteQuiet(json);
            }
        );
    }

    /// <summary>
    /// PUT admin/alerts/webhook: sets where the cluster sends alerts, and its quiet hours; null for neither.
    /// </summary>
    private static async Task PutAsync(HttpContext http, ServerContext context)
    {
        if (!await RavenRoute.TryPassBarrierAsync(context, http))
        {
            return;
        }

        var stored = StoredSettings(context);
        bool keepsUrl = false;
        byte[] text = await ConfigurationProposal.ReadAsync(
            context,
            http,
            (ref Utf8JsonReader body) =>
                body.TokenType == JsonTokenType.Null
                    ? [.. "null"u8]
                    : AlertSettings
                        .Read(
                            ref body,
                            () =>
                            {
                                keepsUrl = true;
                                return AlertSettings.Of(stored);
                            }
                        )
                        .ToJson()
        );

        // A URL that is kept must be the one that was read: another request may replace one that became known.
        long? expectedEtag = keepsUrl ? stored.Etag : null;
        if (
            await ConfigurationProposal.TrySetAsync(
                context,
                http,
                database: 0,
                ConfigurationName.Alerts,
                text,
                expectedEtag
            )
            is not null
        )
        {
            await EmptyResponse.AnswerNoContent(http);
        }
    }

    private static DatabaseConfiguration StoredSettings(ServerContext context) =>
        context.Node.Databases.ServerConfigurations.Find(ConfigurationName.Alerts);

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
        // A webhook of the cluster may have been set or replaced on another member just now.
        bool isOfFile = context.AlertSender is { IsOfFile: true };
        if (!isOfFile)
        {
            if (context.Readiness.Node is not { Diagnosis: null })
            {
                await ErrorResponse.WriteAsync(
                    http,
                    StatusCodes.Status503ServiceUnavailable,
                    ErrorResponse.RavenException,
                    "This node's data are not open, so it cannot read which webhook is set for the whole cluster. "
                        + "`GET /readyz` says why; send the test by another node."
                );
                return;
            }

            if (!await RavenRoute.TryPassBarrierAsync(context, http))
            {
                return;
            }

            _ = AlertSettings.Of(StoredSettings(context)); // refuses settings of a newer version
        }

        if (context.AlertSender is not { Webhook: { } webhook } sender)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status409Conflict,
                ErrorResponse.RavenException,
                "No webhook is set. Set one on the page of alerts, or with \"webhook\" in the configuration file "
                    + "of this node, and start it again."
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
            json => json.WriteString("Message"u8, $"{ShownSetting.PlaceOf(webhook.Url)} accepted a test message.")
        );
    }
}
