namespace Rookery.Server.Raven;

/// <summary>
/// Names of RavenDB's exceptions. Its clients throw the exception named by the last segment; a name they do not know
/// becomes RavenException.
/// </summary>
internal static class RavenType
{
    public const string RavenException = "Raven.Client.Exceptions.RavenException";
    public const string BadRequest = "Raven.Client.Exceptions.BadRequestException";
    public const string NotSupported = "Raven.Client.Exceptions.NotSupportedException";
    public const string InvalidQuery = "Raven.Client.Exceptions.InvalidQueryException";
    public const string Concurrency = "Raven.Client.Exceptions.ConcurrencyException";
    public const string ClusterTransactionConcurrency =
        "Raven.Client.Exceptions.ClusterTransactionConcurrencyException";
    public const string DocumentDoesNotExist = "Raven.Client.Exceptions.Documents.DocumentDoesNotExistException";
    public const string AttachmentDoesNotExist =
        "Raven.Client.Exceptions.Documents.Attachments.AttachmentDoesNotExistException";
    public const string CompareExchangeKeyTooBig = "Raven.Client.Exceptions.CompareExchangeKeyTooBigException";
    public const string CounterOverflow = "Raven.Client.Exceptions.Documents.Counters.CounterOverflowException";
    public const string SubscriptionDoesNotExist =
        "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionDoesNotExistException";
    public const string DatabaseDoesNotExist = "Raven.Client.Exceptions.Database.DatabaseDoesNotExistException";
    public const string DatabaseDisabled = "Raven.Client.Exceptions.Database.DatabaseDisabledException";
    public const string NoLeader = "Raven.Client.Exceptions.Cluster.NoLeaderException";
    public const string Timeout = "System.TimeoutException";

    // Clients expect it for a batch whose wait for indexes or replicas timed out.
    public const string BatchTimeout = "Raven.Client.Exceptions.RavenTimeoutException";

    public const string PatchFailed = "Raven.Client.Exceptions.Documents.Patching.JavaScriptException";
    public const string IndexCompilation = "Raven.Client.Exceptions.Documents.Compilation.IndexCompilationException";
    public const string IndexMissing = "Raven.Client.Exceptions.Documents.Indexes.IndexDoesNotExistException";
}
