using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.Attachments;
using Rookery.Server.Raven.Batches;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.Changes;
using Rookery.Server.Raven.Cluster;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Counters;
using Rookery.Server.Raven.Databases;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.LongOperations;
using Rookery.Server.Raven.Queries;
using Rookery.Server.Raven.Revisions;
using Rookery.Server.Raven.SetBased;
using Rookery.Server.Raven.Smuggler;
using Rookery.Server.Raven.Streams;
using Rookery.Server.Raven.Subscriptions;

namespace Rookery.Server.Raven;

/// <summary>
/// Maps the routes of RavenDB's HTTP dialect that this version has (docs/reference/http.md). Every other path is
/// refused by name.
/// </summary>
public static class RavenRoutes
{
    /// <summary>Pattern of the routes for documents by id.</summary>
    internal const string DocumentsPattern = Database + "docs";

    /// <summary>The route of batches.</summary>
    internal const string BatchPattern = Database + Batches;

    /// <summary>The route of queries.</summary>
    internal const string QueriesPattern = Database + Queries;

    private const string Database = "/databases/{database}/";
    private const string Batches = "bulk_docs";
    private const string Queries = "queries";

    /// <summary>Adds the routes.</summary>
    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var operations = new OperationRegistry(context.Time, context.QueryMemory);
        MapServer(routes, context);
        MapFileMerge(routes, context, operations);
        MapDocuments(routes, context);
        MapReads(routes, context);
        MapAttachments(routes, context);
        MapRevisions(routes, context, operations);
        MapIndexes(routes, context);
        MapSubscriptions(routes, context);
        MapLongOperations(routes, context, operations);
        MapChanges(routes, context, operations);
        routes
            .Map(Database + "{**rest}", RavenRoute.OnDatabase(context, UnsupportedRoutes.OnDatabaseAsync))
            .For(RouteScope.ReadOrWrite)
            .Taking(RouteParameters.Any);
        // Not MapFallback: its pattern excludes paths whose last segment contains a dot, which would be answered 404
        // without a body.
        routes
            .Map("/{**rest}", RavenRoute.OnServer(UnsupportedRoutes.OnServerAsync))
            .For(RouteScope.ReadOrWrite)
            .Taking(RouteParameters.Any);
    }

    private static void MapServer(IEndpointRouteBuilder routes, ServerContext context)
    {
        var topology = new TopologyRoutes(context);
        var databases = new DatabaseRoutes(context);
        Add(routes, "GET", "/topology", RouteScope.NamedDatabase, topology.DatabaseTopologyAsync)
            .Taking(RavenParameters.Topology);
        Add(routes, "GET", "/cluster/topology", RouteScope.ReadOrWrite, topology.ClusterTopologyAsync)
            .Taking(RavenParameters.ClusterTopology);
        Add(routes, "GET", "/cluster/node-info", RouteScope.ReadOrWrite, topology.NodeInfoAsync)
            .Taking(RouteParameters.None);
        Add(routes, "GET", "/build/version", RouteScope.ReadOrWrite, TopologyRoutes.VersionAsync)
            .Taking(RouteParameters.None);
        AddForCluster(routes, context, "PUT", "/admin/databases", RouteScope.Admin, databases.CreateAsync)
            .Taking(RavenParameters.DatabaseCreate);
        AddForCluster(routes, context, "DELETE", "/admin/databases", RouteScope.Admin, databases.DeleteAsync)
            .Taking(RavenParameters.DatabaseDelete);
        AddForCluster(routes, context, "GET", "/admin/databases", RouteScope.NamedDatabase, databases.GetAsync)
            .Taking(RavenParameters.DatabaseRecord);
        AddForCluster(routes, context, "GET", "/databases", RouteScope.ReadOrWrite, databases.ListAsync)
            .Taking(RavenParameters.Databases);
        var states = new DatabaseStateRoutes(context);
        AddForCluster(routes, context, "POST", "/admin/databases/enable", RouteScope.Admin, states.EnableAsync)
            .Taking(RouteParameters.None);
        AddForCluster(routes, context, "POST", "/admin/databases/disable", RouteScope.Admin, states.DisableAsync)
            .Taking(RouteParameters.None);
        AddForCluster(routes, context, "POST", "/admin/databases/set-lock", RouteScope.Admin, states.SetLockAsync)
            .Taking(RouteParameters.None);
        var members = new DatabaseMemberRoutes(context, databases);
        AddForCluster(routes, context, "PUT", "/admin/databases/node", RouteScope.Admin, members.AddAsync)
            .Taking(RavenParameters.DatabaseNode);
        AddForCluster(routes, context, "POST", "/admin/databases/promote", RouteScope.Admin, members.PromoteAsync)
            .Taking(RavenParameters.DatabaseNode);
        AddForCluster(routes, context, "POST", "/admin/databases/reorder", RouteScope.Admin, members.ReorderAsync)
            .Taking(RavenParameters.DatabaseOrder);
        Add(routes, "GET", "/admin/test/delay", RouteScope.ReadOrWrite, new DelayRoute(context).HandleAsync)
            .Taking(RavenParameters.Delay);
        MapConfigurations(routes, context, databases);
    }

    private static void MapFileMerge(IEndpointRouteBuilder routes, ServerContext context, OperationRegistry operations)
    {
        var merge = new FileMergeRoute(context, operations);
        Add(routes, "POST", "/admin/compact", RouteScope.Admin, merge.HandleAsync).Taking(RouteParameters.None);
        var states = new OperationRoutes(context, operations);
        Add(routes, "GET", "/operations/state", RouteScope.Admin, states.StateOfServerAsync)
            .Taking(RavenParameters.Operation);
        Add(routes, "POST", "/admin/operations/kill", RouteScope.Admin, states.KillOfServerAsync)
            .Taking(RavenParameters.Operation);
    }

    private static void MapConfigurations(IEndpointRouteBuilder routes, ServerContext context, DatabaseRoutes databases)
    {
        const string Client = "configuration/client";
        const string Settings = "admin/configuration/settings";
        var clients = new ClientConfigurationRoutes(context);
        Add(routes, "GET", "/" + Client, RouteScope.ReadOrWrite, clients.GetOfServerAsync).Taking(RavenParameters.Read);
        Add(routes, "GET", "/admin/" + Client, RouteScope.Admin, clients.GetOfServerAsync).Taking(RavenParameters.Read);
        Add(routes, "PUT", "/admin/" + Client, RouteScope.Admin, clients.PutOfServerAsync).Taking(RouteParameters.None);
        // Answered even without a leader: reads with consistency=local are, and the header Refresh-Client-Configuration
        // of their responses makes clients send this request.
        routes
            .MapMethods(Database + Client, ["GET"], RavenRoute.OnAnyDatabaseNow(context, clients.GetAsync))
            .For(RouteScope.ReadOrWrite)
            .Taking(RavenParameters.Read);
        Describe(routes, context, "admin/" + Client, RouteScope.Admin, clients.GetAsync);
        Administrate(routes, context, "PUT", "admin/" + Client, clients.PutAsync).Taking(RouteParameters.None);
        foreach (
            string name in (ReadOnlySpan<string>)
                [ConfigurationName.Expiration, ConfigurationName.Refresh, ConfigurationName.DataArchival]
        )
        {
            string path = name + "/config";
            var schedules = new ScheduleConfigurationRoutes(context, name);
            Describe(routes, context, path, RouteScope.Read, schedules.GetAsync);
            Describe(routes, context, "admin/" + path, RouteScope.Admin, schedules.GetAsync);
            Administrate(routes, context, "POST", "admin/" + path, schedules.PostAsync).Taking(RouteParameters.None);
        }

        Describe(routes, context, "admin/record", RouteScope.Admin, databases.RecordAsync);
        routes
            .MapMethods(
                Database + "admin/connection-strings",
                ["GET"],
                RavenRoute.OnAnyDatabaseRead(context, ConnectionStringRoutes.GetAsync)
            )
            .For(RouteScope.Admin)
            .Taking(RavenParameters.ConnectionStrings);
        Describe(routes, context, Settings, RouteScope.Admin, DatabaseSettingRoutes.GetAsync);
        // Also for a disabled database, because settings are usually changed while the database is disabled.
        routes
            .MapMethods(
                Database + Settings,
                ["PUT"],
                RavenRoute.OnAnyDatabase(context, new DatabaseSettingRoutes(context).PutAsync)
            )
            .For(RouteScope.Admin)
            .Taking(RouteParameters.None);
    }

    private static void MapDocuments(IEndpointRouteBuilder routes, ServerContext context)
    {
        var change = new ChangeDocument(context);
        var hilo = new HiloRoutes(context);
        var identities = new IdentityRoutes(context);
        Write(routes, context, "PUT", "docs", change.PutAsync).Taking(RavenParameters.Document);
        Write(routes, context, "DELETE", "docs", change.DeleteAsync).Taking(RavenParameters.Document);
        var patch = new PatchDocument(context);
        Write(routes, context, "PATCH", "docs", patch.HandleAsync).Taking(RavenParameters.Patch);
        routes
            .MapMethods(Database + "json-patch", ["PATCH"], RavenRoute.OnDatabase(context, patch.HandleJsonPatchAsync))
            .For(RouteScope.ReadAndWrite)
            .Taking(RavenParameters.JsonPatch);
        Write(routes, context, "POST", Batches, new BulkDocs(context).HandleAsync).Taking(RavenParameters.Batch);
        var values = new ChangeCompareExchange(context);
        Write(routes, context, "PUT", "cmpxchg", values.PutAsync).Taking(RavenParameters.CompareExchange);
        Write(routes, context, "DELETE", "cmpxchg", values.DeleteAsync).Taking(RavenParameters.CompareExchange);
        routes
            .MapMethods(
                Database + "counters",
                ["POST"],
                RavenRoute.OnDatabase(context, new CounterBatch(context).HandleAsync)
            )
            .For(RouteScope.ReadOrWrite)
            .Taking(RavenParameters.CounterBatch);
        Write(routes, context, "GET", "hilo/next", hilo.NextAsync).Taking(RavenParameters.HiloNext);
        Write(routes, context, "PUT", "hilo/return", hilo.ReturnAsync).Taking(RavenParameters.HiloReturn);
        Write(routes, context, "POST", "identity/next", identities.NextAsync).Taking(RavenParameters.Identity);
        Write(routes, context, "POST", "identity/seed", identities.SeedAsync).Taking(RavenParameters.IdentitySeed);
    }

    private static void MapReads(IEndpointRouteBuilder routes, ServerContext context)
    {
        var documents = new GetDocuments(context);
        var queries = new RunQuery(context);
        Read(routes, context, "GET", "docs", documents.GetAsync).Taking(RavenParameters.Documents);
        Read(routes, context, "POST", "docs", documents.PostAsync).Taking(RavenParameters.DocumentsOfBody);
        Read(routes, context, "HEAD", "docs", ChangeDocument.HeadAsync).Taking(RavenParameters.DocumentHead);
        Read(routes, context, "POST", Queries, queries.HandleAsync).Taking(RavenParameters.Query);
        Read(routes, context, "GET", "streams/docs", new StreamDocuments(context).HandleAsync)
            .Taking(RavenParameters.StreamOfDocuments);
        Read(routes, context, "POST", "streams/queries", new StreamQuery(context).HandleAsync)
            .Taking(RavenParameters.StreamOfQuery);
        var values = new GetCompareExchange(context);
        Read(routes, context, "GET", "cmpxchg", values.HandleAsync).Taking(RavenParameters.CompareExchangeValues);
        Read(routes, context, "GET", "counters", new GetCounters(context).HandleAsync).Taking(RavenParameters.Counters);
        Read(
                routes,
                context,
                "POST",
                "multi_get",
                new MultiGetRoute(context, documents, values, new GetRevisions(context), queries).HandleAsync
            )
            .Taking(RavenParameters.Read);
        Read(routes, context, "GET", "debug/identities", new IdentityRoutes(context).ListAsync)
            .Taking(RavenParameters.Read);
        var statistics = new StatisticsRoutes(context);
        Read(routes, context, "GET", "stats", statistics.StatsAsync).Taking(RavenParameters.Statistics);
        Read(routes, context, "GET", "stats/essential", statistics.EssentialAsync).Taking(RavenParameters.Statistics);
        Read(routes, context, "GET", "stats/detailed", statistics.DetailedAsync).Taking(RavenParameters.Statistics);
        Read(routes, context, "GET", "collections/stats", statistics.CollectionsAsync).Taking(RavenParameters.Read);
        Read(routes, context, "GET", "collections/stats/detailed", statistics.CollectionsDetailedAsync)
            .Taking(RavenParameters.Read);
        MapWithoutBarrier(routes, context, "healthcheck", TopologyRoutes.HealthAsync).Taking(RouteParameters.None);
    }

    private static void MapAttachments(IEndpointRouteBuilder routes, ServerContext context)
    {
        const string Path = "attachments";
        var change = new ChangeAttachment(context);
        var get = new GetAttachment(context);
        Write(routes, context, "PUT", Path, change.PutAsync).Taking(RavenParameters.AttachmentPut);
        Write(routes, context, "DELETE", Path, change.DeleteAsync).Taking(RavenParameters.AttachmentDelete);
        Read(routes, context, "GET", Path, get.GetAsync).Taking(RavenParameters.Attachment);
        Read(routes, context, "POST", "attachments/bulk", new GetAttachments(context).HandleAsync)
            .Taking(RavenParameters.Read);
        Read(routes, context, "HEAD", Path, GetAttachment.HeadAsync).Taking(RavenParameters.Attachment);
    }

    private static void MapRevisions(IEndpointRouteBuilder routes, ServerContext context, OperationRegistry operations)
    {
        const string Path = "revisions";
        var configuration = new ConfigureRevisions(context);
        var get = new GetRevisions(context);
        Administrate(routes, context, "POST", "admin/revisions/config", configuration.PostAsync)
            .Taking(RavenParameters.RevisionWrite);
        Read(routes, context, "GET", Path + "/config", ConfigureRevisions.GetAsync).Taking(RavenParameters.Read);
        Read(routes, context, "GET", Path, get.HandleAsync).Taking(RavenParameters.Revisions);
        Read(routes, context, "GET", Path + "/count", GetRevisions.CountAsync).Taking(RavenParameters.RevisionCount);
        Read(routes, context, "GET", Path + "/bin", new GetDeletedDocuments(context).HandleAsync)
            .Taking(RavenParameters.RevisionBin);
        var change = new ChangeRevisions(context);
        Write(routes, context, "POST", Path + "/revert/docs", change.RevertAsync).Taking(RavenParameters.RevisionWrite);
        var ofAll = new RevisionsOperations(context, operations);
        Write(routes, context, "POST", Path + "/revert", ofAll.RevertAsync).Taking(RouteParameters.None);
        Administrate(routes, context, "POST", "admin/revisions/config/enforce", ofAll.EnforceAsync)
            .Taking(RouteParameters.None);
        routes
            .MapMethods(Database + "admin/revisions", ["DELETE"], RavenRoute.OnDatabase(context, change.DeleteAsync))
            .For(RouteScope.Admin)
            .Taking(RavenParameters.RevisionWrite);
    }

    private static void MapIndexes(IEndpointRouteBuilder routes, ServerContext context)
    {
        var definitions = new IndexDefinitionRoutes(context);
        var defining = new DefineIndexes(context);
        var settings = new IndexSettingRoutes(context);
        var status = new IndexStatusRoutes(context);
        Read(routes, context, "GET", "indexes", definitions.ListAsync).Taking(RavenParameters.Indexes);
        Write(routes, context, "PUT", "indexes", defining.PutAsync).Taking(RavenParameters.IndexWrite);
        Write(routes, context, "PUT", "admin/indexes", defining.PutAsync).Taking(RavenParameters.IndexWrite);
        Write(routes, context, "DELETE", "indexes", definitions.DeleteAsync).Taking(RavenParameters.IndexDelete);
        Write(routes, context, "RESET", "indexes", definitions.ResetAsync).Taking(RavenParameters.IndexReset);
        Read(routes, context, "GET", "indexes/stats", status.StatsAsync).Taking(RavenParameters.OfIndexes);
        Read(routes, context, "GET", "indexes/progress", status.ProgressAsync).Taking(RavenParameters.IndexProgress);
        Read(routes, context, "GET", "indexes/staleness", status.StalenessAsync).Taking(RavenParameters.IndexStaleness);
        Read(routes, context, "GET", "indexes/status", status.StatusAsync).Taking(RavenParameters.Read);
        Read(routes, context, "GET", "indexes/terms", status.TermsAsync).Taking(RavenParameters.IndexTerms);
        Read(routes, context, "GET", "indexes/errors", status.ErrorsAsync).Taking(RavenParameters.OfIndexes);
        Read(routes, context, "POST", "indexes/has-changed", defining.HasChangedAsync).Taking(RavenParameters.Read);
        Write(routes, context, "DELETE", "indexes/errors", status.DeleteErrorsAsync)
            .Taking(RavenParameters.IndexErrors);
        Write(routes, context, "POST", "indexes/set-lock", settings.SetLockAsync).Taking(RavenParameters.IndexWrite);
        Write(routes, context, "POST", "indexes/set-priority", settings.SetPriorityAsync)
            .Taking(RavenParameters.IndexWrite);
        Administrate(routes, context, "POST", "admin/indexes/start", settings.StartAsync)
            .Taking(RavenParameters.IndexPause);
        Administrate(routes, context, "POST", "admin/indexes/stop", settings.StopAsync)
            .Taking(RavenParameters.IndexPause);
        Administrate(routes, context, "POST", "admin/indexes/enable", settings.EnableAsync)
            .Taking(RavenParameters.IndexState);
        Administrate(routes, context, "POST", "admin/indexes/disable", settings.DisableAsync)
            .Taking(RavenParameters.IndexState);
    }

    private static void MapSubscriptions(IEndpointRouteBuilder routes, ServerContext context)
    {
        const string Path = "subscriptions";
        var subscriptions = new SubscriptionRoutes(context);
        Write(routes, context, "PUT", Path, subscriptions.PutAsync).Taking(RavenParameters.SubscriptionPut);
        Write(routes, context, "POST", "subscriptions/update", subscriptions.UpdateAsync)
            .Taking(RavenParameters.SubscriptionUpdate);
        Write(routes, context, "DELETE", Path, subscriptions.DeleteAsync).Taking(RavenParameters.SubscriptionDelete);
        Write(routes, context, "POST", "subscriptions/drop", subscriptions.DropAsync)
            .Taking(RavenParameters.SubscriptionDrop);
        Write(routes, context, "POST", "admin/tasks/state", subscriptions.SetStateAsync)
            .Taking(RavenParameters.TaskState);
        Read(routes, context, "GET", Path, subscriptions.ListAsync).Taking(RavenParameters.Subscriptions);
        Read(routes, context, "GET", "subscriptions/state", subscriptions.StateAsync)
            .Taking(RavenParameters.SubscriptionState);
        Read(routes, context, "GET", "task", new OngoingTaskRoute(context).AnswerAsync).Taking(RavenParameters.Task);
        var tcp = new TcpInfoRoutes(context);
        Add(routes, "GET", "/info/tcp", RouteScope.ReadOrWrite, tcp.InfoAsync).Taking(RavenParameters.TcpInfo);
        Add(routes, "GET", "/info/remote-task/tcp", RouteScope.ReadOrWrite, tcp.RemoteTaskAsync)
            .Taking(RavenParameters.RemoteTask);
        MapWithoutBarrier(routes, context, "info/tcp", tcp.DatabaseInfoAsync).Taking(RavenParameters.TcpInfo);
    }

    private static void MapLongOperations(
        IEndpointRouteBuilder routes,
        ServerContext context,
        OperationRegistry registry
    )
    {
        var operations = new OperationRoutes(context, registry);
        MapWithoutBarrier(routes, context, "operations/next-operation-id", operations.NextIdAsync)
            .Taking(RouteParameters.None);
        MapWithoutBarrier(routes, context, "operations/state", operations.StateAsync).Taking(RavenParameters.Operation);
        Write(routes, context, "POST", "operations/kill", operations.KillAsync).Taking(RavenParameters.Operation);
        Write(routes, context, "POST", "bulk_insert", new BulkInsertRoute(context, registry).HandleAsync)
            .Taking(RavenParameters.BulkInsert)
            .WithMetadata(LongBody.Instance);
        var smuggler = new SmugglerRoutes(context, registry);
        Read(routes, context, "POST", "smuggler/export", smuggler.ExportAsync).Taking(RavenParameters.Smuggler);
        Write(routes, context, "POST", "smuggler/import", smuggler.ImportAsync)
            .Taking(RavenParameters.Smuggler)
            .WithMetadata(LongBody.Instance);
        var changes = new ChangeByQuery(context, registry);
        routes
            .MapMethods(QueriesPattern, ["DELETE"], RavenRoute.OnDatabaseRead(context, changes.DeleteAsync))
            .For(RouteScope.ReadAndWrite)
            .Taking(RavenParameters.ChangeByQuery);
        routes
            .MapMethods(QueriesPattern, ["PATCH"], RavenRoute.OnDatabaseRead(context, changes.PatchAsync))
            .For(RouteScope.ReadAndWrite)
            .Taking(RavenParameters.ChangeByQuery);
    }

    private static void MapChanges(IEndpointRouteBuilder routes, ServerContext context, OperationRegistry operations)
    {
        var webSocket = routes.CreateApplicationBuilder();
        webSocket.UseWebSockets(
            new WebSocketOptions
            {
                KeepAliveInterval = TimeSpan.FromSeconds(30),
                KeepAliveTimeout = TimeSpan.FromSeconds(30),
            }
        );
        webSocket.Run(RavenRoute.OnDatabase(context, new ChangesRoute(context, operations).HandleAsync));
        routes
            .MapMethods(Database + "changes", ["GET"], webSocket.Build())
            .For(RouteScope.Read)
            .Taking(RouteParameters.None);
    }

    private static IEndpointConventionBuilder Add(
        IEndpointRouteBuilder routes,
        string method,
        string pattern,
        RouteScope scope,
        RequestDelegate handler
    ) => routes.MapMethods(pattern, [method], RavenRoute.OnServer(handler)).For(scope);

    private static IEndpointConventionBuilder AddForCluster(
        IEndpointRouteBuilder routes,
        ServerContext context,
        string method,
        string pattern,
        RouteScope scope,
        RequestDelegate handler
    ) => routes.MapMethods(pattern, [method], RavenRoute.OnCluster(context, handler)).For(scope);

    private static IEndpointConventionBuilder Read(
        IEndpointRouteBuilder routes,
        ServerContext context,
        string method,
        string path,
        DatabaseHandler handler
    ) => routes.MapMethods(Database + path, [method], RavenRoute.OnDatabaseRead(context, handler)).For(RouteScope.Read);

    // Maps a request that neither reads nor writes data. No write changes its answer, so it needs no read barrier.
    private static IEndpointConventionBuilder MapWithoutBarrier(
        IEndpointRouteBuilder routes,
        ServerContext context,
        string path,
        DatabaseHandler handler
    ) =>
        routes
            .MapMethods(Database + path, ["GET"], RavenRoute.OnDatabase(context, handler))
            .For(RouteScope.ReadOrWrite);

    private static IEndpointConventionBuilder Administrate(
        IEndpointRouteBuilder routes,
        ServerContext context,
        string method,
        string path,
        DatabaseHandler handler
    ) => routes.MapMethods(Database + path, [method], RavenRoute.OnDatabase(context, handler)).For(RouteScope.Admin);

    // Maps a read of configurations, also of a disabled database.
    private static void Describe(
        IEndpointRouteBuilder routes,
        ServerContext context,
        string path,
        RouteScope scope,
        DatabaseHandler handler
    ) =>
        routes
            .MapMethods(Database + path, ["GET"], RavenRoute.OnAnyDatabaseRead(context, handler))
            .For(scope)
            .Taking(RavenParameters.Read);

    private static IEndpointConventionBuilder Write(
        IEndpointRouteBuilder routes,
        ServerContext context,
        string method,
        string path,
        DatabaseHandler handler
    ) => routes.MapMethods(Database + path, [method], RavenRoute.OnDatabase(context, handler)).For(RouteScope.Write);
}
