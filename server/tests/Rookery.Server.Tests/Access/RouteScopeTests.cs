using Microsoft.AspNetCore.Routing;
using Rookery.Server.Access;

namespace Rookery.Server.Tests.Access;

public class RouteScopeTests(SecureServer server) : IClassFixture<SecureServer>
{
    /// <summary>
    /// Every route with its scope. A new route is added here by hand, so that someone decides about its scope.
    /// </summary>
    private static readonly string[] Routes =
    [
        "* /databases/{database}/{**rest}: read or write",
        "* /{**rest}: read or write",
        "DELETE /admin/access/certificates: admin",
        "DELETE /admin/access/tokens: admin",
        "DELETE /admin/databases: admin",
        "DELETE /databases/{database}/admin/revisions: admin",
        "DELETE /databases/{database}/attachments: write",
        "DELETE /databases/{database}/cmpxchg: write",
        "DELETE /databases/{database}/docs: write",
        "DELETE /databases/{database}/indexes/errors: write",
        "DELETE /databases/{database}/indexes: write",
        "DELETE /databases/{database}/queries: read and write",
        "DELETE /databases/{database}/subscriptions: write",
        "DELETE /session: open",
        "GET /admin/access/certificates: admin",
        "GET /admin/access/tokens: admin",
        "GET /admin/alerts/webhook: admin",
        "GET /admin/configuration/client: admin",
        "GET /admin/databases: read or write",
        "GET /admin/test/delay: read or write",
        "GET /admin/node/backup: admin",
        "GET /build/version: read or write",
        "GET /cluster/node-info: read or write",
        "GET /cluster/topology: read or write",
        "GET /configuration/client: read or write",
        "GET /databases/{database}/admin/configuration/client: admin",
        "GET /databases/{database}/admin/configuration/settings: admin",
        "GET /databases/{database}/admin/connection-strings: admin",
        "GET /databases/{database}/admin/data-archival/config: admin",
        "GET /databases/{database}/admin/expiration/config: admin",
        "GET /databases/{database}/admin/record: admin",
        "GET /databases/{database}/admin/refresh/config: admin",
        "GET /databases/{database}/attachments: read",
        "GET /databases/{database}/changes/stream: read",
        "GET /databases/{database}/changes: read",
        "GET /databases/{database}/cmpxchg: read",
        "GET /databases/{database}/collections/stats/detailed: read",
        "GET /databases/{database}/collections/stats: read",
        "GET /databases/{database}/configuration/client: read or write",
        "GET /databases/{database}/counters: read",
        "GET /databases/{database}/data-archival/config: read",
        "GET /databases/{database}/debug/identities: read",
        "GET /databases/{database}/docs: read",
        "GET /databases/{database}/expiration/config: read",
        "GET /databases/{database}/export: read",
        "GET /databases/{database}/healthcheck: read or write",
        "GET /databases/{database}/hilo/next: write",
        "GET /databases/{database}/indexes/errors: read",
        "GET /databases/{database}/indexes/progress: read",
        "GET /databases/{database}/indexes/staleness: read",
        "GET /databases/{database}/indexes/stats: read",
        "GET /databases/{database}/indexes/status: read",
        "GET /databases/{database}/indexes/terms: read",
        "GET /databases/{database}/indexes: read",
        "GET /databases/{database}/info/tcp: read or write",
        "GET /databases/{database}/operations/next-operation-id: read or write",
        "GET /databases/{database}/operations/state: read or write",
        "GET /databases/{database}/refresh/config: read",
        "GET /databases/{database}/revisions/bin: read",
        "GET /databases/{database}/revisions/config: read",
        "GET /databases/{database}/revisions/count: read",
        "GET /databases/{database}/revisions: read",
        "GET /databases/{database}/stats/detailed: read",
        "GET /databases/{database}/stats/essential: read",
        "GET /databases/{database}/stats: read",
        "GET /databases/{database}/streams/docs: read",
        "GET /databases/{database}/subscriptions/state: read",
        "GET /databases/{database}/task: read",
        "GET /databases/{database}/subscriptions: read",
        "GET /databases: read or write",
        "GET /info/remote-task/tcp: read or write",
        "GET /info/tcp: read or write",
        "GET /operations/state: admin",
        "GET /topology: read or write",
        "GET,HEAD /: open",
        "GET,HEAD /admin/logs: admin",
        "GET,HEAD /admin/node/debug-package: admin",
        "GET,HEAD /admin/node/settings: admin",
        "GET,HEAD /assets/{**name}: open",
        "GET,HEAD /dashboard/alerts: metrics",
        "GET,HEAD /dashboard/history: metrics",
        "GET,HEAD /dashboard/live: metrics",
        "GET,HEAD /dashboard/redis: metrics",
        "GET,HEAD /dashboard/slow: metrics",
        "GET,HEAD /debug/io: metrics",
        "GET,HEAD /favicon.ico: open",
        "GET,HEAD /help/{**path}: open",
        "GET,HEAD /help: open",
        "GET,HEAD /livez: open",
        "GET,HEAD /metrics/machine: metrics",
        "GET,HEAD /metrics: metrics",
        "GET,HEAD /readyz: open",
        "GET,HEAD /sd/prometheus: metrics",
        "GET,HEAD /session: open",
        "GET,HEAD /studio/{**path}: open",
        "HEAD /databases/{database}/attachments: read",
        "HEAD /databases/{database}/docs: read",
        "PATCH /databases/{database}/docs: write",
        "PATCH /databases/{database}/json-patch: read and write",
        "PATCH /databases/{database}/queries: read and write",
        "POST /admin/access/certificates: admin",
        "POST /admin/access/tokens/reset: admin",
        "POST /admin/access/tokens: admin",
        "POST /admin/alerts/test: admin",
        "POST /admin/compact: admin",
        "POST /admin/databases/disable: admin",
        "POST /admin/databases/enable: admin",
        "POST /admin/databases/promote: admin",
        "POST /admin/databases/reorder: admin",
        "POST /admin/databases/set-lock: admin",
        "POST /admin/node/find: admin",
        "POST /admin/operations/kill: admin",
        "POST /claim: open",
        "POST /databases/{database}/admin/data-archival/config: admin",
        "POST /databases/{database}/admin/expiration/config: admin",
        "POST /databases/{database}/admin/indexes/disable: admin",
        "POST /databases/{database}/admin/indexes/enable: admin",
        "POST /databases/{database}/admin/indexes/start: admin",
        "POST /databases/{database}/admin/indexes/stop: admin",
        "POST /databases/{database}/admin/refresh/config: admin",
        "POST /databases/{database}/admin/revisions/config/enforce: admin",
        "POST /databases/{database}/admin/revisions/config: admin",
        "POST /databases/{database}/admin/tasks/state: write",
        "POST /databases/{database}/attachments/bulk: read",
        "POST /databases/{database}/bulk_docs: write",
        "POST /databases/{database}/bulk_insert: write",
        "POST /databases/{database}/counters: read or write",
        "POST /databases/{database}/docs: read",
        "POST /databases/{database}/identity/next: write",
        "POST /databases/{database}/identity/seed: write",
        "POST /databases/{database}/import: write",
        "POST /databases/{database}/indexes/has-changed: read",
        "POST /databases/{database}/indexes/set-lock: write",
        "POST /databases/{database}/indexes/set-priority: write",
        "POST /databases/{database}/multi_get: read",
        "POST /databases/{database}/operations/kill: write",
        "POST /databases/{database}/queries: read",
        "POST /databases/{database}/revisions/revert/docs: write",
        "POST /databases/{database}/revisions/revert: write",
        "POST /databases/{database}/smuggler/export: read",
        "POST /databases/{database}/smuggler/import: write",
        "POST /databases/{database}/streams/queries: read",
        "POST /databases/{database}/subscriptions/drop: write",
        "POST /databases/{database}/subscriptions/update: write",
        "POST /session: open",
        "PUT /admin/alerts/webhook: admin",
        "PUT /admin/configuration/client: admin",
        "PUT /admin/databases/node: admin",
        "PUT /admin/databases: admin",
        "PUT /databases/{database}/admin/configuration/client: admin",
        "PUT /databases/{database}/admin/configuration/settings: admin",
        "PUT /databases/{database}/admin/indexes: write",
        "PUT /databases/{database}/attachments: write",
        "PUT /databases/{database}/cmpxchg: write",
        "PUT /databases/{database}/docs: write",
        "PUT /databases/{database}/hilo/return: write",
        "PUT /databases/{database}/indexes: write",
        "PUT /databases/{database}/subscriptions: write",
        "RESET /databases/{database}/indexes: write",
    ];

    [Fact]
    public void Every_route_has_a_scope()
    {
        var mapped = ((IEndpointRouteBuilder)server.App)
            .DataSources.SelectMany(source => source.Endpoints)
            .OfType<RouteEndpoint>()
            .Select(Describe)
            .Order(StringComparer.Ordinal)
            .ToArray();
        Assert.Equal(Routes.Order(StringComparer.Ordinal), mapped);
    }

    [Fact]
    public void Totals_of_reads_and_writes_exclude_routes_paced_by_the_client()
    {
        var counted = ((IEndpointRouteBuilder)server.App)
            .DataSources.SelectMany(source => source.Endpoints)
            .OfType<RouteEndpoint>()
            .Where(static endpoint => endpoint.Metadata.GetMetadata<RouteTotal>() is not null)
            .Select(Describe)
            .ToArray();
        Assert.Contains("GET /databases/{database}/docs: read", counted);
        Assert.Contains("POST /databases/{database}/bulk_docs: write", counted);
        Assert.DoesNotContain(
            counted,
            static route =>
                ((string[])["/streams/", "/export", "/changes", "/import", "/bulk_insert"]).Any(part =>
                    route.Contains(part, StringComparison.Ordinal)
                )
        );
    }

    [Theory]
    [InlineData(200, 1)]
    [InlineData(404, 1)]
    [InlineData(401, 0)]
    [InlineData(429, 0)]
    [InlineData(503, 0)]
    public void Refused_requests_are_not_counted_as_reads(int status, int counted)
    {
        var metrics = new RequestMetrics(TimeProvider.System);
        metrics.End(metrics.ForRoute("/x"), new RouteTotal(metrics.Reads), metrics.Begin(needsDocuments: true), status);
        Assert.Equal(counted, Enumerable.Range(0, 6).Sum(hundreds => metrics.Reads.WithStatusClass(hundreds)));
        Assert.Equal(1, metrics.ForRoute("/x").WithStatusClass(status / 100));
    }

    private static string Describe(RouteEndpoint endpoint)
    {
        string methods = endpoint.Metadata.GetMetadata<HttpMethodMetadata>() is { HttpMethods.Count: > 0 } allowed
            ? string.Join(',', allowed.HttpMethods)
            : "*";
        return $"{methods} {endpoint.RoutePattern.RawText}: {endpoint.Metadata.GetMetadata<RouteScope>()?.Name}";
    }
}
