using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Server.Raven.Batches;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.Changes;
using Rookery.Server.Raven.Cluster;
using Rookery.Server.Raven.Databases;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.LongOperations;
using Rookery.Server.Raven.Queries;
using Rookery.Server.Raven.SetBased;
using Rookery.Server.Raven.Streams;

namespace Rookery.Server.Raven;

/// <summary>RavenDB's HTTP dialect (docs/reference): every route of it that this version has, and a refusal by name for the rest.</summary>
public static class RavenRoutes
{
    private const string Database = "/databases/{database}/";

    /// <summary>Adds the routes.</summary>
    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var operations = new OperationRegistry(context.Time);
        MapServer(routes, context);
        MapDocuments(routes, context);
        MapReads(routes, context);
        MapIndexes(routes, context);
        MapLongOperations(routes, context, operations);
        MapChanges(routes, context, operations);
        routes.Map(Database + "{**rest}", RavenRoute.OnDatabase(context, UnsupportedRoutes.OnDatabaseAsync)).For(RouteScope.ReadOrWrite);
        // Not MapFallback, whose pattern leaves out paths with a dot in their last segment: they would be 404 without a body.
        routes.Map("/{**rest}", RavenRoute.OnServer(UnsupportedRoutes.OnServerAsync)).For(RouteScope.ReadOrWrite);
    }

    private static void MapServer(IEndpointRouteBuilder routes, ServerContext context)
    {
        var topology = new TopologyRoutes(context);
        var databases = new DatabaseRoutes(context);
        Add(routes, "GET", "/topology", RouteScope.NamedDatabase, topology.DatabaseTopologyAsync);
        Add(routes, "GET", "/cluster/topology", RouteScope.ReadOrWrite, topology.ClusterTopologyAsync);
        Add(routes, "GET", "/cluster/node-info", RouteScope.ReadOrWrite, topology.NodeInfoAsync);
        Add(routes, "GET", "/build/version", RouteScope.ReadOrWrite, TopologyRoutes.VersionAsync);
        AddForCluster(routes, context, "PUT", "/admin/databases", RouteScope.Admin, databases.CreateAsync);
        AddForCluster(routes, context, "DELETE", "/admin/databases", RouteScope.Admin, databases.DeleteAsync);
        AddForCluster(routes, context, "GET", "/admin/databases", RouteScope.NamedDatabase, databases.GetAsync);
        AddForCluster(routes, context, "GET", "/databases", RouteScope.ReadOrWrite, databases.ListAsync);
    }

    private static void MapDocuments(IEndpointRouteBuilder routes, ServerContext context)
    {
        var change = new ChangeDocument(context);
        var hilo = new HiloRoutes(context);
        var identities = new IdentityRoutes(context);
        Write(routes, context, "PUT", "docs", change.PutAsync);
        Write(routes, context, "DELETE", "docs", change.DeleteAsync);
        Write(routes, context, "PATCH", "docs", new PatchDocument(context).HandleAsync);
        Write(routes, context, "POST", "bulk_docs", new BulkDocs(context).HandleAsync);
        Write(routes, context, "GET", "hilo/next", hilo.NextAsync);
        Write(routes, context, "PUT", "hilo/return", hilo.ReturnAsync);
        Write(routes, context, "POST", "identity/next", identities.NextAsync);
        Write(routes, context, "POST", "identity/seed", identities.SeedAsync);
    }

    private static void MapReads(IEndpointRouteBuilder routes, ServerContext context)
    {
        var documents = new GetDocuments(context);
        var queries = new RunQuery(context);
        Read(routes, context, "GET", "docs", documents.GetAsync);
        Read(routes, context, "POST", "docs", documents.PostAsync);
        Read(routes, context, "HEAD", "docs", ChangeDocument.HeadAsync);
        Read(routes, context, "POST", "queries", queries.HandleAsync);
        Read(routes, context, "GET", "streams/docs", new StreamDocuments(context).HandleAsync);
        Read(routes, context, "POST", "streams/queries", new StreamQuery(context).HandleAsync);
        Read(routes, context, "POST", "multi_get", new MultiGetRoute(context, documents, queries).HandleAsync);
        Read(routes, context, "GET", "debug/identities", IdentityRoutes.ListAsync);
        var statistics = new StatisticsRoutes(context);
        Read(routes, context, "GET", "stats", statistics.StatsAsync);
        Read(routes, context, "GET", "stats/essential", statistics.EssentialAsync);
        Read(routes, context, "GET", "stats/detailed", statistics.DetailedAsync);
        Read(routes, context, "GET", "collections/stats", StatisticsRoutes.CollectionsAsync);
        Read(routes, context, "GET", "collections/stats/detailed", StatisticsRoutes.CollectionsDetailedAsync);
        Ask(routes, context, "healthcheck", TopologyRoutes.HealthAsync);
        Ask(routes, context, "configuration/client", TopologyRoutes.ClientConfigurationAsync);
    }

    private static void MapIndexes(IEndpointRouteBuilder routes, ServerContext context)
    {
        var definitions = new IndexDefinitionRoutes(context);
        var defining = new DefineIndexes(context);
        var settings = new IndexSettingRoutes(context);
        var status = new IndexStatusRoutes(context);
        Read(routes, context, "GET", "indexes", definitions.ListAsync);
        Write(routes, context, "PUT", "indexes", defining.PutAsync);
        Write(routes, context, "PUT", "admin/indexes", defining.PutAsync);
        Write(routes, context, "DELETE", "indexes", definitions.DeleteAsync);
        Write(routes, context, "RESET", "indexes", definitions.ResetAsync);
        Read(routes, context, "GET", "indexes/stats", status.StatsAsync);
        Read(routes, context, "GET", "indexes/progress", status.ProgressAsync);
        Read(routes, context, "GET", "indexes/staleness", status.StalenessAsync);
        Read(routes, context, "GET", "indexes/status", status.StatusAsync);
        Read(routes, context, "GET", "indexes/terms", status.TermsAsync);
        Read(routes, context, "GET", "indexes/errors", status.ErrorsAsync);
        Read(routes, context, "POST", "indexes/has-changed", defining.HasChangedAsync);
        Write(routes, context, "DELETE", "indexes/errors", status.ForgetErrorsAsync);
        Write(routes, context, "POST", "indexes/set-lock", settings.SetLockAsync);
        Write(routes, context, "POST", "indexes/set-priority", settings.SetPriorityAsync);
        Administrate(routes, context, "admin/indexes/start", settings.StartAsync);
        Administrate(routes, context, "admin/indexes/stop", settings.StopAsync);
        Administrate(routes, context, "admin/indexes/enable", settings.EnableAsync);
        Administrate(routes, context, "admin/indexes/disable", settings.DisableAsync);
    }

    private static void MapLongOperations(IEndpointRouteBuilder routes, ServerContext context, OperationRegistry registry)
    {
        var operations = new OperationRoutes(context, registry);
        Ask(routes, context, "operations/next-operation-id", operations.NextIdAsync);
        Ask(routes, context, "operations/state", operations.StateAsync);
        Write(routes, context, "POST", "operations/kill", operations.KillAsync);
        Write(routes, context, "POST", "bulk_insert", new BulkInsertRoute(context, registry).HandleAsync).WithMetadata(LongBody.Instance);
        var changes = new ChangeByQuery(context, registry);
        routes.MapMethods(Database + "queries", ["DELETE"], RavenRoute.OnFreshDatabase(context, changes.DeleteAsync)).For(RouteScope.ReadAndWrite);
        routes.MapMethods(Database + "queries", ["PATCH"], RavenRoute.OnFreshDatabase(context, changes.PatchAsync)).For(RouteScope.ReadAndWrite);
    }

    private static void MapChanges(IEndpointRouteBuilder routes, ServerContext context, OperationRegistry operations)
    {
        var webSocket = routes.CreateApplicationBuilder();
        webSocket.UseWebSockets(new WebSocketOptions { KeepAliveInterval = TimeSpan.FromSeconds(30), KeepAliveTimeout = TimeSpan.FromSeconds(30) });
        webSocket.Run(RavenRoute.OnDatabase(context, new ChangesRoute(context, operations).HandleAsync));
        routes.MapMethods(Database + "changes", ["GET"], webSocket.Build()).For(RouteScope.Read);
    }

    private static void Add(IEndpointRouteBuilder routes, string method, string pattern, RouteScope scope, RequestDelegate handler) =>
        routes.MapMethods(pattern, [method], RavenRoute.OnServer(handler)).For(scope);

    private static void AddForCluster(IEndpointRouteBuilder routes, ServerContext context, string method, string pattern, RouteScope scope, RequestDelegate handler) =>
        routes.MapMethods(pattern, [method], RavenRoute.OnCluster(context, handler)).For(scope);

    private static void Read(IEndpointRouteBuilder routes, ServerContext context, string method, string path, DatabaseHandler handler) =>
        routes.MapMethods(Database + path, [method], RavenRoute.OnFreshDatabase(context, handler)).For(RouteScope.Read);

    // What clients ask beside reading and writing, of nothing that writes change: no read barrier.
    private static void Ask(IEndpointRouteBuilder routes, ServerContext context, string path, DatabaseHandler handler) =>
        routes.MapMethods(Database + path, ["GET"], RavenRoute.OnDatabase(context, handler)).For(RouteScope.ReadOrWrite);

    private static void Administrate(IEndpointRouteBuilder routes, ServerContext context, string path, DatabaseHandler handler) =>
        routes.MapMethods(Database + path, ["POST"], RavenRoute.OnDatabase(context, handler)).For(RouteScope.Admin);

    private static IEndpointConventionBuilder Write(IEndpointRouteBuilder routes, ServerContext context, string method, string path, DatabaseHandler handler) =>
        routes.MapMethods(Database + path, [method], RavenRoute.OnDatabase(context, handler)).For(RouteScope.Write);
}
