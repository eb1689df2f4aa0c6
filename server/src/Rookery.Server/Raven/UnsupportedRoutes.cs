using Microsoft.AspNetCore.Http;
using Rookery.Documents;

namespace Rookery.Server.Raven;

/// <summary>What RavenDB has and this version has not: refused by name with 501, never 404, which its clients read as "no result".</summary>
internal static class UnsupportedRoutes
{
    private static readonly (string Path, string Feature)[] Features =
    [
        ("queries", "change by query"),
        ("indexes", "indexes"),
        ("admin/indexes", "indexes"),
        ("attachments", "attachments"),
        ("counters", "counters"),
        ("timeseries", "time series"),
        ("revisions", "revisions"),
        ("admin/revisions", "revisions"),
        ("cmpxchg", "compare-exchange"),
        ("subscriptions", "data subscriptions"),
        ("smuggler", "smuggler export and import"),
        ("admin/expiration", "configuration of expiration (documents with @expires always end on time)"),
        ("admin/refresh", "refresh of documents"),
        ("admin/backup", "periodic backup"),
        ("etl", "ETL"),
        ("replication", "replication to other clusters"),
        ("admin/configuration", "configuration of a database"),
    ];

    /// <summary>Anything else under /databases/{database}/.</summary>
    public static Task OnDatabaseAsync(HttpContext http, Database database)
    {
        string rest = (string?)http.Request.RouteValues["rest"] ?? "";
        throw Refuse(http, FeatureOf(rest));
    }

    /// <summary>Anything else of the server's dialect.</summary>
    public static Task OnServerAsync(HttpContext http) => throw Refuse(http, feature: null);

    private static string? FeatureOf(string path)
    {
        foreach (var (prefix, feature) in Features)
        {
            if (path.Equals(prefix, StringComparison.OrdinalIgnoreCase) || path.StartsWith(prefix + "/", StringComparison.OrdinalIgnoreCase))
            {
                return feature;
            }
        }

        return null;
    }

    private static RefusedException Refuse(HttpContext http, string? feature) => RefusedException.NotSupported(
        $"{http.Request.Method} {http.Request.Path}: {(feature is null ? "this route" : "the feature '" + feature + "'")} is not supported by this version; GET /help lists what is.");
}
