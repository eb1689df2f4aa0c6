using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven;

/// <summary>
/// Refuses the routes of RavenDB that this version does not have, by name. The status is 501, because RavenDB's clients
/// read 404 as "no result".
/// </summary>
internal static class UnsupportedRoutes
{
    private static readonly (string Path, string Feature)[] DatabaseFeatures =
    [
        ("indexes", "this part of indexes"),
        ("admin/indexes", "this part of indexes"),
        ("admin/sorters", "custom sorters"),
        ("admin/analyzers", "custom analyzers"),
        ("attachments", "this part of attachments"),
        ("admin/attachments", "remote attachments"),
        ("timeseries", "time series"),
        ("admin/timeseries", "time series"),
        ("revisions", "this part of revisions"),
        ("admin/revisions", "this part of revisions"),
        ("admin/revisions-bin-cleaner", "automatic removal of the revisions of deleted documents"),
        ("subscriptions", "this part of data subscriptions"),
        ("smuggler", "this part of smuggler (there are smuggler/export and smuggler/import)"),
        ("admin/smuggler", "this part of smuggler (there are smuggler/export and smuggler/import)"),
        ("admin/documents-compression", "configuration of compression (documents are always compressed)"),
        ("admin/schema-validation", "schema validation"),
        ("admin/transactions", "recording of transactions"),
        ("admin/backup", "backup over HTTP (there is the command `rookery backup`)"),
        ("admin/periodic-backup", "periodic backup"),
        ("admin/backup-task", "periodic backup"),
        ("admin/connection-strings", "connection strings"),
        ("admin/etl", "ETL"),
        ("etl", "ETL"),
        ("admin/queue-sink", "queue sinks"),
        ("admin/ai", "AI tasks"),
        ("admin/tasks", "ongoing tasks (admin/tasks/state enables and disables subscriptions)"),
        ("tasks", "ongoing tasks"),
        ("task", "ongoing tasks (GET task shows subscriptions)"),
        ("replication", "replication to other clusters"),
        ("admin/replication", "replication to other clusters"),
        ("admin/configuration", "this configuration of a database"),
        ("studio/sample-data", "sample data (`rookery import` stores your own)"),
    ];

    private static readonly (string Path, string Feature)[] ServerFeatures =
    [
        ("admin/certificates", "certificates"),
        ("admin/operations", "this part of operations"),
        ("admin/restore", "restore over HTTP (there is the command `rookery restore`)"),
        ("admin/backup", "backup over HTTP (there is the command `rookery backup`)"),
        ("periodic-backup", "periodic backup"),
        ("admin/configuration", "this server-wide configuration"),
        ("admin/databases", "changing where databases are stored"),
        ("admin/cluster", "changing the members of a cluster"),
        ("admin/logs", "configuration of logs"),
        ("admin/sorters", "custom sorters"),
        ("admin/analyzers", "custom analyzers"),
        ("info/remote-task", "replication to other clusters"),
    ];

    /// <summary>Refuses any other path under /databases/{database}/.</summary>
    public static Task OnDatabaseAsync(HttpContext http, Database database)
    {
        string path = (string?)http.Request.RouteValues["rest"] ?? "";
        bool isQuery = path.Equals("queries", StringComparison.OrdinalIgnoreCase);
        throw Refuse(
            http,
            isQuery ? "queries in the URL (send them in the body of a POST)" : FeatureOf(DatabaseFeatures, path)
        );
    }

    /// <summary>Refuses any other path.</summary>
    public static Task OnServerAsync(HttpContext http) =>
        throw Refuse(http, FeatureOf(ServerFeatures, http.Request.Path.Value.AsSpan().TrimStart('/')));

    private static string? FeatureOf((string Path, string Feature)[] features, ReadOnlySpan<char> path)
    {
        foreach (var (prefix, feature) in features)
        {
            if (
                path.StartsWith(prefix, StringComparison.OrdinalIgnoreCase)
                && (path.Length == prefix.Length || path[prefix.Length] == '/')
            )
            {
                return feature;
            }
        }

        return null;
    }

    private static RefusedException Refuse(HttpContext http, string? feature) =>
        RefusedException.NotSupported(
            feature is null
                ? $"{http.Request.Method} {http.Request.Path} is not supported by this version; GET /help "
                    + $"lists what is."
                : $"{http.Request.Method} {http.Request.Path}: {feature}: this feature is not supported by "
                    + $"this version; GET /help lists what is."
        );
}
