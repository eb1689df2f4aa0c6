using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;

namespace Rookery.Server.Raven.Indexes;

/// <summary>
/// Proposes changes of indexes, so that all members have the same indexes, and finds indexes for requests.
/// </summary>
internal static class IndexCommand
{
    // The same as the default wait of a query.
    private static readonly TimeSpan OpeningTimeout = TimeSpan.FromSeconds(15);

    /// <summary>Proposes a change. A repetition with the same idempotency key has no further effect.</summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">The database of the indexes.</param>
    /// <param name="encode">Encodes the change.</param>
    /// <param name="key">The key of the change if the request has several changes; null for the request's key.</param>
    /// <exception cref="RefusedException">The change was rejected; nothing was changed.</exception>
    public static async ValueTask<CommandOutcome> ProposeAsync(
        ServerContext context,
        HttpContext http,
        Database database,
        Action<IndexWriter> encode,
        IdempotencyKey? key = null
    )
    {
        using var writer = new IndexWriter(database.Number, key ?? IdempotencyHeader.ReadOrRequestId(http));
        encode(writer);
        var outcome = await HttpProposal.ProposeAsync(context, http, writer.Complete());
        if (outcome.Rejection is { } rejection)
        {
            throw RavenErrors.Refuse(rejection);
        }

        IdempotencyHeader.WriteHorizon(http, database);
        return outcome;
    }

    /// <summary>Finds the indexes with these names.</summary>
    /// <exception cref="RefusedException">There is no index with one of the names: 404.</exception>
    public static List<IndexRecord> Find(Database database, IEnumerable<string> names)
    {
        using var reader = database.OpenReader();
        var records = new List<IndexRecord>();
        foreach (string name in names)
        {
            records.Add(reader.FindIndex(name) ?? throw Missing(name));
        }

        return records;
    }

    /// <summary>Returns the error for an unknown index: 404, as RavenDB's clients expect of most routes.</summary>
    public static RefusedException Missing(string name, int status = StatusCodes.Status404NotFound) =>
        new(status, RavenType.IndexMissing, $"There is no index '{name}'.");

    /// <summary>Returns the error for an index that is defined but not open on this node: 503.</summary>
    public static RefusedException NotOpen(ServerContext context, Database database, string name) =>
        new(
            StatusCodes.Status503ServiceUnavailable,
            RavenType.RavenException,
            WhyNotMaintained(context, database, name) ?? IndexDelay.NotReady(name)
        );

    /// <summary>
    /// Executes an action on an index on this node only. If the index was defined a moment ago, waits until it is open.
    /// </summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">The database.</param>
    /// <param name="name">Name of the index.</param>
    /// <param name="act">The action. It returns false if the index is not open on this node.</param>
    /// <exception cref="RefusedException">There is no such index: 404. This node does not maintain it: 500 with the
    /// reason, which RavenDB's clients do not repeat on another node. It is not open yet, or there is no read barrier:
    /// 503.</exception>
    public static async Task ActOnThisNodeAsync(
        ServerContext context,
        HttpContext http,
        Database database,
        string name,
        Func<bool> act
    )
    {
        if (act())
        {
            return;
        }

        // A lagging follower may not know the index yet.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(context));
        }

        Find(database, [name]);
        await WaitUntilOpenAsync(context, http, database, name);
        if (!act())
        {
            throw WhyNotMaintained(context, database, name) is { } why
                ? new RefusedException(StatusCodes.Status500InternalServerError, RavenType.RavenException, why)
                : NotOpen(context, database, name);
        }
    }

    /// <summary>Waits until this node has opened all defined indexes that it maintains.</summary>
    /// <exception cref="RefusedException">An index was not opened in time, or there is no read barrier:
    /// 503.</exception>
    public static async Task WaitUntilOpenAsync(ServerContext context, HttpContext http, Database database)
    {
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(context));
        }

        var names = FindUnopened(context, database);
        if (names.Count == 0)
        {
            return;
        }

        await Task.WhenAll(names.Select(name => WaitUntilOpenAsync(context, http, database, name)));
        if (names.Find(FindUnopened(context, database).Contains) is { } late)
        {
            throw NotOpen(context, database, late);
        }
    }

    /// <summary>
    /// Returns the error for a damaged index, which is rebuilt: 503, so that clients try another node, which has its
    /// own index.
    /// </summary>
    public static RefusedException Damaged(IndexDamagedException damaged) =>
        new(StatusCodes.Status503ServiceUnavailable, RavenType.RavenException, damaged.Message);

    private static List<string> FindUnopened(ServerContext context, Database database) =>
        [
            .. ShownIndex
                .All(context.Indexes, database)
                .Where(static index => index is { Status: null, WhyNotMaintained: null })
                .Select(static index => index.Record.Name),
        ];

    /// <summary>Waits up to 15 s until this node has opened an index, if it maintains the index.</summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">The database.</param>
    /// <param name="name">Name of the index.</param>
    /// <param name="isRebuilt">Whether to wait until the index is built, too, unless it is paused, disabled or in
    /// error.</param>
    public static async Task WaitUntilOpenAsync(
        ServerContext context,
        HttpContext http,
        Database database,
        string name,
        bool isRebuilt = false
    )
    {
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        await context.Indexes.WaitAsync(
            database,
            name,
            etag: isRebuilt ? 1 : 0,
            OpeningTimeout,
            linked.Token,
            whilePausedOrDisabled: !isRebuilt
        );
    }

    private static string? WhyNotMaintained(ServerContext context, Database database, string name) =>
        context.Indexes.WhyNotMaintained(database, name) is { } why
            ? $"The index '{name}' is not maintained on this node. {why}"
            : null;
}
