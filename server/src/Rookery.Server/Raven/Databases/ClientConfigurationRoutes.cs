using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// configuration/client and admin/configuration/client, of a database and of the server: conventions that RavenDB's
/// clients adopt. Clients send the etag of the configuration that they know with each request. If it is older, the
/// answer has the header Refresh-Client-Configuration, and the client reads the configuration.
/// </summary>
internal sealed class ClientConfigurationRoutes(ServerContext context)
{
    private const string Container = "a client configuration";
    private const string NoSeparator =
        "'IdentityPartsSeparator' must be \"/\": with another separator the ids that this server completes would "
        + "differ from those of the client. Nothing was changed.";

    private static readonly string[] Members =
    [
        "Disabled",
        "Etag",
        "IdentityPartsSeparator",
        "LoadBalanceBehavior",
        "LoadBalancerContextSeed",
        "MaxNumberOfRequestsPerSession",
        "ReadBalanceBehavior",
    ];

    /// <summary>Etag of the configuration that clients of a database must know; 0 if none was ever set.</summary>
    public static long EtagFor(ServerContext context, Database database) =>
        Math.Max(
            database.Configurations.Find(ConfigurationName.Client).Etag,
            context.Node.Databases.ServerConfigurations.Find(ConfigurationName.Client).Etag
        );

    /// <summary>If the client knows an older configuration, sets the header that makes it read the newest.</summary>
    public static void SetRefreshHeader(ServerContext context, HttpContext http, Database database)
    {
        if (EtagFor(context, database) is var current and > 0 && ReadKnownEtag(http) is { } known && known < current)
        {
            http.Response.Headers["Refresh-Client-Configuration"] = "true";
        }
    }

    /// <summary>
    /// GET configuration/client of a database: its configuration or, if it has none or has disabled it, that of the
    /// server; null without either. The answer never has the header, for which the client for Node.js would wait in
    /// turn.
    /// </summary>
    public Task GetAsync(HttpContext http, Database database)
    {
        var own = database.Configurations.Find(ConfigurationName.Client);
        var ofServer = context.Node.Databases.ServerConfigurations.Find(ConfigurationName.Client);
        var served = ofServer.IsSet && (!own.IsSet || IsDisabled(own)) ? ofServer : own;
        return JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("Etag"u8, Math.Max(own.Etag, ofServer.Etag));
                json.WritePropertyName("Configuration"u8);
                json.WriteRawValue(served.IsSet ? WithEtag(served) : "null"u8, skipInputValidation: true);
            }
        );
    }

    /// <summary>GET configuration/client of the server: its configuration; 404 without one.</summary>
    public async Task GetOfServerAsync(HttpContext http)
    {
        if (await RavenRoute.TryPassBarrierAsync(context, http))
        {
            var configuration = context.Node.Databases.ServerConfigurations.Find(ConfigurationName.Client);
            await ConfigurationProposal.AnswerAsync(http, configuration);
        }
    }

    /// <summary>PUT admin/configuration/client of a database.</summary>
    public Task PutAsync(HttpContext http, Database database) => PutAsync(http, database.Number);

    /// <summary>PUT admin/configuration/client of the server.</summary>
    public Task PutOfServerAsync(HttpContext http) => PutAsync(http, database: 0);

    private async Task PutAsync(HttpContext http, uint database)
    {
        var text = await ConfigurationProposal.ReadAsync(context, http, Read);
        if (
            await ConfigurationProposal.TrySetAsync(context, http, database, ConfigurationName.Client, text) is not null
        )
        {
            await EmptyResponse.AnswerNoContent(http);
        }
    }

    // As in RavenDB, the configuration itself has its etag, too. A stored text has at least the member Disabled.
    private static byte[] WithEtag(DatabaseConfiguration configuration) =>
        [
            .. Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{{\"Etag\":{configuration.Etag},")),
            .. configuration.Json.Span[1..],
        ];

    private static long? ReadKnownEtag(HttpContext http) =>
        http.Request.Headers.TryGetValue("Client-Configuration-Etag", out var sent)
        && long.TryParse(
            sent.ToString().AsSpan().Trim('"'),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out long etag
        )
            ? etag
            : null;

    private static bool IsDisabled(DatabaseConfiguration configuration)
    {
        using var document = JsonDocument.Parse(configuration.Json);
        return document.RootElement.TryGetProperty("Disabled"u8, out var disabled)
            && disabled.ValueKind == JsonValueKind.True;
    }

    /// <summary>Reads a configuration, and returns the text to store.</summary>
    /// <exception cref="RefusedException">It is not valid (400), or not supported (501).</exception>
    public static byte[] Read(ref Utf8JsonReader body)
    {
        if (body.TokenType == JsonTokenType.Null)
        {
            return [.. "null"u8];
        }

        bool isDisabled = false;
        var numbers = new SortedDictionary<string, int>(StringComparer.Ordinal);
        var words = new SortedDictionary<string, string>(StringComparer.Ordinal);
        JsonBody.ForEachMember(
            ref body,
            (string member, ref Utf8JsonReader value) =>
            {
                if (value.TokenType == JsonTokenType.Null)
                {
                    if (Array.IndexOf(Members, member) < 0)
                    {
                        throw JsonBody.NotSupported(member, Container, Members);
                    }

                    return;
                }

                switch (member)
                {
                    case "Disabled":
                        isDisabled = ReadFlag(ref value, member);
                        break;
                    case "Etag": // of the configuration that the client read; the server assigns the new one
                        value.Skip();
                        break;
                    case "MaxNumberOfRequestsPerSession":
                        numbers[member] = ReadNumber(ref value, member, lowest: 1);
                        break;
                    case "LoadBalancerContextSeed":
                        numbers[member] = ReadNumber(ref value, member, int.MinValue);
                        break;
                    case "ReadBalanceBehavior":
                        words[member] = ReadWord(ref value, member, "None", "RoundRobin", "FastestNode");
                        break;
                    case "LoadBalanceBehavior":
                        words[member] = ReadWord(ref value, member, "None", "UseSessionContext");
                        break;
                    case "IdentityPartsSeparator":
                        words[member] = JsonBody.ReadText(ref value, member) is "/"
                            ? "/"
                            : throw RefusedException.NotSupported(NoSeparator);
                        break;
                    default:
                        throw JsonBody.NotSupported(member, Container, Members);
                }
            }
        );
        return ConfigurationProposal.ToJson(json =>
        {
            json.WriteBoolean("Disabled"u8, isDisabled);
            foreach (var (member, number) in numbers)
            {
                json.WriteNumber(member, number);
            }

            foreach (var (member, word) in words)
            {
                json.WriteString(member, word);
            }
        });
    }

    private static bool ReadFlag(ref Utf8JsonReader value, string member) =>
        value.TokenType switch
        {
            JsonTokenType.True => true,
            JsonTokenType.False => false,
            _ => throw RefusedException.BadRequest($"'{member}' must be true or false."),
        };

    private static int ReadNumber(ref Utf8JsonReader value, string member, int lowest) =>
        value.TokenType == JsonTokenType.Number && value.TryGetInt32(out int number) && number >= lowest
            ? number
            : throw RefusedException.BadRequest(
                string.Create(CultureInfo.InvariantCulture, $"'{member}' must be a whole number from {lowest} on.")
            );

    private static string ReadWord(ref Utf8JsonReader value, string member, params string[] words) =>
        JsonBody.ReadText(ref value, member) is { } word && Array.IndexOf(words, word) >= 0
            ? word
            : throw RefusedException.BadRequest($"'{member}' must be one of {string.Join(", ", words)}.");
}
