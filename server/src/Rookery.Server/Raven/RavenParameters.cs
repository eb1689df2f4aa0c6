namespace Rookery.Server.Raven;

/// <summary>
/// The query parameters that each route of RavenDB's dialect takes, besides those that every route ignores
/// (<see cref="RouteParameters.IgnoredAnywhere"/>). docs/reference/clients.md lists them too.
/// </summary>
internal static class RavenParameters
{
    private const string Consistency = "consistency";

    private static readonly Dictionary<string, string> IgnoredForDocuments = new(StringComparer.Ordinal)
    {
        ["loadHash"] = "gives each list of ids in a body its own URL, for the client's cache",
    };

    private static readonly Dictionary<string, string> IgnoredForQueries = new(StringComparer.Ordinal)
    {
        ["queryHash"] = "gives each query in a body its own URL, for the client's cache",
        ["addTimeSeriesNames"] = "requests the names of time series in results, of which there are none",
        ["tag"] = "names the query for tools that observe the traffic",
    };

    /// <summary>GET docs.</summary>
    public static RouteParameters Documents { get; } =
        new(
            "id*",
            "include*",
            "cmpxchg*",
            "counter*",
            "revisions*",
            "revisionsBefore",
            "txMode",
            "metadataOnly",
            "startsWith",
            "matches",
            "exclude",
            "startAfter",
            "start",
            "pageSize",
            Consistency
        )
        {
            Ignored = IgnoredForDocuments,
        };

    /// <summary>POST docs.</summary>
    public static RouteParameters DocumentsOfBody { get; } =
        new("include*", "cmpxchg*", "counter*", "revisions*", "revisionsBefore", "txMode", "metadataOnly", Consistency)
        {
            Ignored = IgnoredForDocuments,
        };

    /// <summary>HEAD docs.</summary>
    public static RouteParameters DocumentHead { get; } = new("id", Consistency);

    /// <summary>PUT and DELETE of docs.</summary>
    public static RouteParameters Document { get; } = new("id") { TakesIfMatch = true, TakesKey = true };

    /// <summary>PATCH docs.</summary>
    public static RouteParameters Patch { get; } =
        new("id", "skipPatchIfChangeVectorMismatch", "debug", "test") { TakesIfMatch = true, TakesKey = true };

    /// <summary>PATCH json-patch.</summary>
    public static RouteParameters JsonPatch { get; } = new("id") { TakesIfMatch = true, TakesKey = true };

    /// <summary>GET and HEAD of attachments.</summary>
    public static RouteParameters Attachment { get; } = new("id", "name", Consistency) { TakesIfMatch = true };

    /// <summary>PUT of attachments.</summary>
    public static RouteParameters AttachmentPut { get; } = new("id", "name", "contentType") { TakesIfMatch = true };

    /// <summary>DELETE of attachments.</summary>
    public static RouteParameters AttachmentDelete { get; } = new("id", "name") { TakesIfMatch = true };

    /// <summary>POST bulk_docs.</summary>
    public static RouteParameters Batch { get; } =
        new(
            "waitForReplicasTimeout",
            "throwOnTimeoutInWaitForReplicas",
            "numberOfReplicasToWaitFor",
            "waitForIndexesTimeout",
            "waitForIndexThrow",
            "waitForSpecificIndex*",
            "disableAtomicDocumentWrites"
        )
        {
            TakesKey = true,
        };

    /// <summary>GET counters.</summary>
    public static RouteParameters Counters { get; } = new("docId", "counter*", "full", Consistency);

    /// <summary>POST counters.</summary>
    public static RouteParameters CounterBatch { get; } =
        new()
        {
            TakesKey = true,
            Ignored = new Dictionary<string, string>(StringComparer.Ordinal)
            {
                ["docId"] = "repeats the document that the body names",
            },
        };

    /// <summary>GET cmpxchg.</summary>
    public static RouteParameters CompareExchangeValues { get; } =
        new("key*", "startsWith", "start", "pageSize", Consistency);

    /// <summary>GET revisions.</summary>
    public static RouteParameters Revisions { get; } =
        new("id", "changeVector*", "before", "start", "pageSize", "metadataOnly", Consistency);

    /// <summary>GET revisions/count.</summary>
    public static RouteParameters RevisionCount { get; } = new("id", Consistency);

    /// <summary>GET revisions/bin.</summary>
    public static RouteParameters RevisionBin { get; } = new("etag", "start", "pageSize", Consistency);

    /// <summary>POST admin/revisions/config and revisions/revert/docs, DELETE admin/revisions.</summary>
    public static RouteParameters RevisionWrite { get; } = new() { TakesKey = true };

    /// <summary>PUT and DELETE of cmpxchg.</summary>
    public static RouteParameters CompareExchange { get; } = new("key", "index") { TakesKey = true };

    /// <summary>POST bulk_insert.</summary>
    public static RouteParameters BulkInsert { get; } = new("id", "skipOverwriteIfUnchanged") { TakesKey = true };

    /// <summary>POST smuggler/export and smuggler/import.</summary>
    public static RouteParameters Smuggler { get; } = new("operationId");

    /// <summary>POST import.</summary>
    public static RouteParameters Import { get; } = new() { TakesKey = true };

    /// <summary>GET hilo/next.</summary>
    public static RouteParameters HiloNext { get; } =
        new("tag", "lastBatchSize", "lastRangeAt", "identityPartsSeparator", "lastMax") { TakesKey = true };

    /// <summary>PUT hilo/return.</summary>
    public static RouteParameters HiloReturn { get; } = new("tag", "end", "last") { TakesKey = true };

    /// <summary>POST identity/next.</summary>
    public static RouteParameters Identity { get; } = new("name") { TakesKey = true };

    /// <summary>POST identity/seed.</summary>
    public static RouteParameters IdentitySeed { get; } = new("name", "value", "force") { TakesKey = true };

    /// <summary>POST queries.</summary>
    public static RouteParameters Query { get; } =
        new("metadataOnly", "debug", Consistency) { Ignored = IgnoredForQueries };

    /// <summary>DELETE and PATCH of queries.</summary>
    public static RouteParameters ChangeByQuery { get; } =
        new("allowStale", "staleTimeout", "maxOpsPerSec", "details", "ignoreMaxStepsForScript", Consistency);

    /// <summary>POST streams/queries.</summary>
    public static RouteParameters StreamOfQuery { get; } = new("format", Consistency) { Ignored = IgnoredForQueries };

    /// <summary>GET streams/docs.</summary>
    public static RouteParameters StreamOfDocuments { get; } =
        new("format", "startsWith", "matches", "exclude", "startAfter", "start", "pageSize", Consistency);

    /// <summary>Reads of a database without parameters of their own.</summary>
    public static RouteParameters Read { get; } = new(Consistency);

    /// <summary>GET admin/connection-strings.</summary>
    public static RouteParameters ConnectionStrings { get; } = new("connectionStringName", "type", Consistency);

    /// <summary>GET stats and similar routes.</summary>
    public static RouteParameters Statistics { get; } = new(Consistency) { TakesNotes = true };

    /// <summary>GET changes/stream.</summary>
    public static RouteParameters ChangesStream { get; } = new("since", Consistency);

    /// <summary>
    /// GET indexes. The Python client sends its page size without an equals sign, which RavenDB ignores too.
    /// </summary>
    public static RouteParameters Indexes { get; } =
        new("name", "start", "pageSize", "namesOnly", Consistency) { TakesNotes = true };

    /// <summary>PUT indexes, and other routes that change the indexes named in the body.</summary>
    public static RouteParameters IndexWrite { get; } = new() { TakesKey = true };

    /// <summary>DELETE of an index.</summary>
    public static RouteParameters IndexDelete { get; } = new("name") { TakesKey = true };

    /// <summary>POST admin/indexes/enable and disable.</summary>
    public static RouteParameters IndexState { get; } =
        new("name")
        {
            TakesKey = true,
            Ignored = new Dictionary<string, string>(StringComparer.Ordinal)
            {
                ["clusterWide"] = "requests the change on all members, which is always so",
            },
        };

    /// <summary>RESET of an index.</summary>
    public static RouteParameters IndexReset { get; } = new("name");

    /// <summary>POST admin/indexes/start and stop.</summary>
    public static RouteParameters IndexPause { get; } = new("name", "type");

    /// <summary>Reads about several indexes by name.</summary>
    public static RouteParameters OfIndexes { get; } = new("name*", Consistency);

    /// <summary>DELETE indexes/errors.</summary>
    public static RouteParameters IndexErrors { get; } = new("name*");

    /// <summary>GET indexes/progress.</summary>
    public static RouteParameters IndexProgress { get; } = new("name*", "wait", Consistency);

    /// <summary>GET indexes/staleness.</summary>
    public static RouteParameters IndexStaleness { get; } = new("name", Consistency);

    /// <summary>GET indexes/terms.</summary>
    public static RouteParameters IndexTerms { get; } = new("name", "field", "fromValue", "pageSize", Consistency);

    /// <summary>PUT subscriptions.</summary>
    public static RouteParameters SubscriptionPut { get; } = new("id") { TakesKey = true };

    /// <summary>POST subscriptions/update.</summary>
    public static RouteParameters SubscriptionUpdate { get; } = new() { TakesKey = true };

    /// <summary>DELETE subscriptions.</summary>
    public static RouteParameters SubscriptionDelete { get; } = new("taskName") { TakesKey = true };

    /// <summary>POST subscriptions/drop.</summary>
    public static RouteParameters SubscriptionDrop { get; } = new("name", "workerId");

    /// <summary>GET subscriptions.</summary>
    public static RouteParameters Subscriptions { get; } = new("start", "pageSize", Consistency);

    /// <summary>GET subscriptions/state.</summary>
    public static RouteParameters SubscriptionState { get; } = new("name", Consistency);

    /// <summary>GET task.</summary>
    public static RouteParameters Task { get; } = new("key", "type", "taskName", Consistency);

    /// <summary>POST admin/tasks/state.</summary>
    public static RouteParameters TaskState { get; } = new("key", "type", "disable", "taskName") { TakesKey = true };

    /// <summary>GET info/tcp.</summary>
    public static RouteParameters TcpInfo { get; } =
        new()
        {
            Ignored = new Dictionary<string, string>(StringComparer.Ordinal)
            {
                ["tcp"] = "says for what the client connects",
            },
        };

    /// <summary>GET info/remote-task/tcp.</summary>
    public static RouteParameters RemoteTask { get; } =
        new("database", "remote-task")
        {
            Ignored = new Dictionary<string, string>(StringComparer.Ordinal)
            {
                ["tag"] = "says for what the client connects",
                ["verify-database"] = "asks for an error if the database is missing, which is always so",
            },
        };

    /// <summary>Routes about a long operation, by its number.</summary>
    public static RouteParameters Operation { get; } = new("id");

    /// <summary>GET topology.</summary>
    public static RouteParameters Topology { get; } =
        new("name")
        {
            TakesNotes = true,
            Ignored = new Dictionary<string, string>(StringComparer.Ordinal)
            {
                ["localUrl"] = "gives a debugging proxy the address of the node",
                ["applicationIdentifier"] = "names the application for tools that observe the traffic",
            },
        };

    /// <summary>GET cluster/topology.</summary>
    public static RouteParameters ClusterTopology { get; } = new() { TakesNotes = true };

    /// <summary>PUT admin/databases/node and POST admin/databases/promote.</summary>
    public static RouteParameters DatabaseNode { get; } = new("name", "node");

    /// <summary>POST admin/databases/reorder.</summary>
    public static RouteParameters DatabaseOrder { get; } = new("name");

    /// <summary>GET admin/test/delay.</summary>
    public static RouteParameters Delay { get; } = new("value");

    /// <summary>PUT admin/databases.</summary>
    public static RouteParameters DatabaseCreate { get; } = new("name", "replicationFactor") { TakesKey = true };

    /// <summary>DELETE admin/databases.</summary>
    public static RouteParameters DatabaseDelete { get; } = new() { TakesKey = true };

    /// <summary>GET admin/databases.</summary>
    public static RouteParameters DatabaseRecord { get; } = new("name", Consistency);

    /// <summary>GET databases.</summary>
    public static RouteParameters Databases { get; } = new("start", "pageSize", "namesOnly", "name", Consistency);
}
