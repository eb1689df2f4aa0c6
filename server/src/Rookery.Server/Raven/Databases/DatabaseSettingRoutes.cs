using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Databases;

/// <summary>admin/configuration/settings: the settings of a database's record.</summary>
internal sealed class DatabaseSettingRoutes(ServerContext context)
{
    private const string Container = "the settings of a database";
    private const string Archived = "ArchivedDataProcessingBehavior";
    private const string Excluded = "ExcludeArchived";

    private static readonly string[] Ignored = ["DataDir", "RunInMemory", "Core.RunInMemory"];

    // RavenDB's search engines. A database may name any of them; results are the same here.
    private static readonly string[] EngineSettings =
    [
        "Indexing.Auto.SearchEngineType",
        "Indexing.Static.SearchEngineType",
    ];
    private static readonly string[] Engines = ["None", "Lucene", "Corax"];

    // Settings with the only value that they may have, which is what the server does.
    private static readonly SortedDictionary<string, string> Fixed = new(StringComparer.Ordinal)
    {
        [$"Indexing.Auto.{Archived}"] = Excluded,
        [$"Indexing.Static.{Archived}"] = Excluded,
        [$"Subscriptions.{Archived}"] = Excluded,
    };

    /// <summary>
    /// Whether the server keeps a setting and ignores it: the server decides where and how data are stored.
    /// </summary>
    public static bool IsIgnored(string setting) => Ignored.Contains(setting) || EngineSettings.Contains(setting);

    /// <summary>Refuses a value that an ignored setting cannot have in RavenDB.</summary>
    /// <exception cref="RefusedException">The setting names an unknown search engine (400).</exception>
    public static void RequireUsable(string setting, string? value)
    {
        if (EngineSettings.Contains(setting) && !(value is null || Engines.Contains(value)))
        {
            throw RefusedException.BadRequest(
                $"The setting '{setting}' must be {string.Join(", ", Engines)}, not '{value}'. Nothing was changed."
            );
        }
    }

    /// <summary>GET admin/configuration/settings: {"Settings":{…}}.</summary>
    public static Task GetAsync(HttpContext http, Database database) =>
        JsonResponse.SendAsync(http, json => Write(json, database));

    /// <summary>PUT admin/configuration/settings with all settings, by name; null removes one.</summary>
    public async Task PutAsync(HttpContext http, Database database)
    {
        var text = await ConfigurationProposal.ReadAsync(context, http, Read);
        if (
            await ConfigurationProposal.TrySetAsync(context, http, database.Number, ConfigurationName.Settings, text)
            is not null
        )
        {
            await EmptyResponse.AnswerNoContent(http);
        }
    }

    /// <summary>Writes the member Settings of a record.</summary>
    public static void Write(Utf8JsonWriter json, Database database)
    {
        var settings = database.Configurations.Find(ConfigurationName.Settings);
        json.WritePropertyName("Settings"u8);
        json.WriteRawValue(settings.IsSet ? settings.Json.Span : "{}"u8, skipInputValidation: true);
    }

    /// <summary>Refuses a setting that this version does not obey.</summary>
    /// <param name="name">Name of the setting.</param>
    /// <param name="value">Its value; null if it is removed.</param>
    /// <exception cref="RefusedException">The setting is not supported, or has another value than the server's (501).
    /// </exception>
    private static void RequireSupported(string name, string? value)
    {
        bool isFixed = Fixed.TryGetValue(name, out string? only);
        if (!isFixed && !IsIgnored(name))
        {
            throw JsonBody.NotSupported(name, Container, [.. Ignored, .. EngineSettings, .. Fixed.Keys]);
        }

        RequireUsable(name, value);

        if (isFixed && value is not null && !string.Equals(value, only, StringComparison.Ordinal))
        {
            throw RefusedException.NotSupported(
                $"The setting '{name}' must be '{only}' in this version, not '{value}'. Nothing was changed."
            );
        }
    }

    /// <summary>Reads settings by name, and returns the text to store.</summary>
    /// <exception cref="RefusedException">A setting is not valid (400), or not supported (501).</exception>
    public static byte[] Read(ref Utf8JsonReader body)
    {
        var settings = new SortedDictionary<string, string>(StringComparer.Ordinal);
        JsonBody.ForEachMember(
            ref body,
            (string name, ref Utf8JsonReader value) =>
            {
                string? text = ReadText(ref value, name);
                RequireSupported(name, text);
                if (text is not null)
                {
                    settings.Add(name, text);
                }
            }
        );
        return ConfigurationProposal.ToJson(json =>
        {
            foreach (var (name, value) in settings)
            {
                json.WriteString(name, value);
            }
        });
    }

    // Values are texts, but clients also send numbers and flags.
    internal static string? ReadText(ref Utf8JsonReader value, string name) =>
        value.TokenType switch
        {
            JsonTokenType.True => "True",
            JsonTokenType.False => "False",
            JsonTokenType.Number => System.Text.Encoding.ASCII.GetString(value.ValueSpan),
            _ => JsonBody.ReadText(ref value, name),
        };
}
