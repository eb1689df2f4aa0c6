using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Queries.Answering;
using Rookery.Queries.Execution;

namespace Rookery.Server.Raven.Indexes;

/// <summary>Changes of indexes go through the log, so that all members have the same ones.</summary>
internal static class IndexCommand
{
    // As long as a query may wait.
    private static readonly TimeSpan OpeningPatience = TimeSpan.FromSeconds(15);

    /// <summary>Proposes a change. A repetition with the same key comes to the same.</summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">Whose indexes are changed.</param>
    /// <param name="encode">Writes the change.</param>
    /// <exception cref="RefusedException">It was refused; nothing was changed.</exception>
    public static async ValueTask<CommandOutcome> ProposeAsync(
        ServerContext context,
        HttpContext http,
        Database database,
        Action<IndexWriter> encode
    )
    {
        using var writer = new IndexWriter(database.Number, IdempotencyHeader.ReadOrRequestId(http));
        encode(writer);
        var outcome = await HttpProposal.ProposeAsync(context, http, writer.Complete());
        if (outcome.Rejection is { } rejection)
        {
            throw RavenErrors.Refuse(rejection);
        }

        IdempotencyHeader.TellHorizon(http, database);
        return outcome;
    }

    /// <summary>The indexes that a request names.</summary>
    /// <exception cref="RefusedException">A name is none, or there is no index of it.</exception>
    public static List<IndexRecord> Find(Database database, IEnumerable<string> names)
    {
        using var reader = database.OpenReader();
        var found = new List<IndexRecord>();
        foreach (string name in names)
        {
            found.Add(reader.FindIndex(name) ?? throw Missing(name));
        }

        return found;
    }

    /// <summary>There is no such index: 404, as RavenDB's clients know it.</summary>
    public static RefusedException Missing(string name) =>
        new(StatusCodes.Status404NotFound, RavenType.IndexMissing, $"There is no index '{name}'.");

    /// <summary>
    /// There is one, but this node does not keep it, has not opened it, or closed it a moment ago: 503.
    /// </summary>
    public static RefusedException NotAtWork(ServerContext context, Database database, string name) =>
        new(
            StatusCodes.Status503ServiceUnavailable,
            RavenType.RavenException,
            WhyNotKept(context, database, name) ?? IndexDelay.NotAtWork(name)
        );

    /// <summary>
    /// Does something with an index as it is on this node. One that was defined a moment ago is waited for.
    /// </summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">The database.</param>
    /// <param name="name">The index.</param>
    /// <param name="act">Does it, and returns whether the index is at work here.</param>
    /// <exception cref="RefusedException">There is none: 404. This node does not keep it: 500 with the reason, which
    /// RavenDB's clients do not take to another node. It is not at work yet, or this node does not know what is newest:
    /// 503.</exception>
    public static async Task OnThisNodeAsync(
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

        // A follower that is behind may not know the index yet.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NotFresh(context));
        }

        Find(database, [name]);
        await UntilOpenAsync(context, http, database, name);
        if (!act())
        {
            throw WhyNotKept(context, database, name) is { } why
                ? new RefusedException(StatusCodes.Status500InternalServerError, RavenType.RavenException, why)
                : NotAtWork(context, database, name);
        }
    }

    /// <summary>Waits a moment until this node has opened the indexes that are defined, where it keeps them.</summary>
    /// <exception cref="RefusedException">It has not opened one of them, or does not know what is newest:
    /// 503.</exception>
    public static async Task UntilOpenAsync(ServerContext context, HttpContext http, Database database)
    {
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NotFresh(context));
        }

        var names = FindUnopened(context, database);
        if (names.Count == 0)
        {
            return;
        }

        await Task.WhenAll(names.Select(name => UntilOpenAsync(context, http, database, name)));
        if (names.Find(FindUnopened(context, database).Contains) is { } late)
        {
            throw NotAtWork(context, database, late);
        }
    }

    /// <summary>
    /// It cannot be read, and is built again: 503, so that clients ask another node, whose index is its own.
    /// </summary>
    public static RefusedException Damaged(IndexDamagedException damaged) =>
        new(StatusCodes.Status503ServiceUnavailable, RavenType.RavenException, damaged.Message);

    private static List<string> FindUnopened(ServerContext context, Database database) =>
        [
            .. ShownIndex
                .All(context.Indexes, database)
                .Where(static index => index is { Status: null, WhyNotKept: null })
                .Select(static index => index.Record.Name),
        ];

    private static async Task UntilOpenAsync(ServerContext context, HttpContext http, Database database, string name)
    {
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        await context.Indexes.WaitAsync(database, name, 0, OpeningPatience, ends.Token, evenAtRest: true);
    }

    private static string? WhyNotKept(ServerContext context, Database database, string name) =>
        context.Indexes.WhyNotKept(database, name) is { } why
            ? $"The index '{name}' is not kept on this node. {why}"
            : null;
}
