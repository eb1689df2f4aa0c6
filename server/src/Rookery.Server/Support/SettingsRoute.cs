using System.Text.Json;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Observation;
using Rookery.Server.Raven;

namespace Rookery.Server.Support;

/// <summary>
/// GET /admin/node/settings: the settings of this node and their sources. Of a secret setting only the path of its file
/// is shown.
/// </summary>
internal static class SettingsRoute
{
    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapWithoutData(
                "/admin/node/settings",
                RouteScope.Admin,
                http => JsonResponse.SendAsync(http, json => Write(json, context.Options.Settings))
            )
            .OnAnyMember();

    /// <summary>Writes the member <c>Settings</c>.</summary>
    public static void Write(Utf8JsonWriter json, IEnumerable<ShownSetting> settings)
    {
        json.WriteStartArray("Settings"u8);
        foreach (var setting in settings)
        {
            json.WriteStartObject();
            json.WriteString("Name"u8, setting.Name);
            json.WriteString("Value"u8, setting.Value);
            json.WriteString("Source"u8, setting.Source);
            json.WriteString("Help"u8, "/help/reference/configuration.md");
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }
}
