using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// admin/connection-strings: no database has connection strings, because nothing sends data elsewhere by them. So a
/// list is empty; to add or remove one is refused by name.
/// </summary>
internal static class ConnectionStringRoutes
{
    private static readonly string[] Kinds =
    [
        "RavenConnectionStrings",
        "SqlConnectionStrings",
        "OlapConnectionStrings",
        "ElasticSearchConnectionStrings",
        "QueueConnectionStrings",
        "SnowflakeConnectionStrings",
        "AiConnectionStrings",
    ];

    /// <summary>GET admin/connection-strings: an empty object for each kind, as RavenDB's clients expect.</summary>
    public static Task GetAsync(HttpContext http, Database database) =>
        JsonResponse.SendAsync(
            http,
            static json =>
            {
                foreach (string kind in Kinds)
                {
                    json.WriteStartObject(kind);
                    json.WriteEndObject();
                }
            }
        );
}
