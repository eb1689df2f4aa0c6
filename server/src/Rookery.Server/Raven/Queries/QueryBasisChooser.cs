using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Indexing.Indexes;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Chooses what the answer of a query rests on: has the index made that it needs, and waits for it as long as the query
/// may.
/// </summary>
/// <param name="context">The server.</param>
internal sealed class QueryBasisChooser(ServerContext context)
{
    private const string LookedUp = "Documents are looked up: nothing but ids narrows the query.";

    /// <summary>How long a query waits that did not ask to: then it is answered as well as it can be.</summary>
    public static readonly TimeSpan UnaskedWait = TimeSpan.FromSeconds(1.5);

    // A query that only an index answers well has no sooner answer: it waits as long as those do that ask to, and is
    // then answered by looking at all documents twice.
    private static readonly TimeSpan BuildWait = QueryEnvelope.UsualWait;

    /// <summary>
    /// Chooses, and begins to answer. An index that was reset when it was to answer is waited for again.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="reader">Reads the documents that are asked for, at a moment behind all that is waited for; outlives
    /// the results.</param>
    /// <param name="request">What is asked.</param>
    /// <param name="answer">Whose room is taken for what is large.</param>
    /// <param name="metadataOnly">Whether of whole documents only the metadata is wanted.</param>
    /// <param name="chosen">Called when the basis is chosen, before it is gone.</param>
    /// <returns>The query as it is answered, its basis, and its results before the first.</returns>
    /// <exception cref="QueryException">The query would cost more than one may.</exception>
    /// <exception cref="RefusedException">As of <see cref="ChooseAsync"/>, or there was no room for a large
    /// document.</exception>
    public async ValueTask<(QueryRequest Request, QueryBasis Basis, IQueryResults Results)> OpenAsync(
        HttpContext http,
        AnswerReader reader,
        QueryRequest request,
        DocumentAnswer answer,
        bool metadataOnly,
        Action? chosen = null
    )
    {
        var database = reader.Database;
        while (true)
        {
            reader.LetGo();
            var basis = await ChooseAsync(database, request, http);
            request = QueryResults.Renew(context, http, database, request);
            chosen?.Invoke();
            if (
                await QueryResults.TryOpenAsync(context, http, reader, request, basis, answer, metadataOnly) is
                { } results
            )
            {
                return (request, basis, results);
            }
        }
    }

    /// <summary>
    /// Chooses, and waits. Behind the read barrier: what was acknowledged before the query came, it answers, or says
    /// that it is stale.
    /// </summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="request">What is asked.</param>
    /// <param name="http">The request; when its client leaves, it is waited for no longer.</param>
    /// <exception cref="RefusedException">The query was to wait for an index, which did not come so far in time; or it
    /// needs one that could not be made.</exception>
    public ValueTask<QueryBasis> ChooseAsync(Database database, QueryRequest request, HttpContext http)
    {
        long cutOff = database.LastEtag;
        if (request.Plan is null)
        {
            return new(new QueryBasis(request.IndexName, null, false, cutOff, null));
        }

        var route = RouteOf(database, request, explains: false);
        if (route.IndexName is not { } name)
        {
            return new(new QueryBasis(request.IndexName, null, false, cutOff, null));
        }

        context.AutomaticIndexes.NoteUse(database, name);

        // Almost always: then nothing is waited for.
        bool isThere = route.ToDefine is null && (route.IsBuilt || route.NeedsIndex);
        return isThere && context.Indexes.ReadPosition(database, name) is { } position && position.VisibleEtag >= cutOff
            ? new(new QueryBasis(name, name, false, position.VisibleEtag, position.LastIndexed))
            : WaitAsync(database, request, route, name, cutOff, http);
    }

    /// <summary>What the answer of a query would rest on, and why. Nothing is made, and nothing waited for.</summary>
    public QueryRoute Explain(Database database, QueryRequest request) =>
        request.Plan is null
            ? new QueryRoute(null, null, IsBuilt: false, NeedsIndex: false, [PlanReason.OfDocuments(LookedUp)])
            : RouteOf(database, request, explains: true);

    /// <summary>Why an index does not come so far, and what to do, as the rest of a sentence.</summary>
    public static string WhyBehind(
        ServerContext context,
        Database database,
        string name,
        TimeSpan waited,
        bool isWaitedForAtRest = false
    )
    {
        if (context.Indexes.WhyNotKept(database, name) is { } why)
        {
            return $"is not followed on this node: {why} Or ask another member";
        }

        string wait = isWaitedForAtRest
            ? $", and {waited.TotalMilliseconds:0} ms did not change that"
            : ", so it was not waited for";
        return context
            .Indexes.ReadStatus(database)
            .FirstOrDefault(status =>
                !status.IsReplacement && status.Name.Equals(name, StringComparison.OrdinalIgnoreCase)
            )
            ?.State switch
        {
            IndexState.Disabled =>
                $"is disabled and does not follow the documents{wait}. Enable it with `rookery index enable`",
            IndexState.Paused =>
                $"is paused on this node and does not follow the documents{wait}. Let it go on with `rookery "
                    + $"index resume`",
            IndexState.Error =>
                $"stopped because too many documents could not be indexed{wait}: `rookery index errors` "
                    + $"lists them. Correct its definition",
            _ => $"did not come as far as the documents were, and it was waited {waited.TotalMilliseconds:0} "
                + $"ms for it: `rookery index ls` says how far it is. Wait longer",
        };
    }

    private QueryRoute RouteOf(Database database, QueryRequest request, bool explains)
    {
        var queries = new IndexedQueries(context.Indexes);
        if (
            request.Named is { } asked
            && context.Indexes.ReadPosition(database, asked.Name) is null
            && context.Indexes.WhyNotKept(database, asked.Name) is { } why
        )
        {
            throw new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                RavenType.RavenException,
                $"The index '{asked.Name}' is not kept on this node. {why}"
            );
        }

        return request.Named is not { } named
            ? request.Plan!.IsGrouped
                ? new GroupedQueries(context.Indexes).Plan(database, request.Plan)
                : queries.Plan(database, request.Query, request.Plan.Target, explains)
            : named.Automatic is { } automatic && IndexedQueries.WhyUnable(request.Query, automatic) is { } unable
                ? throw new QueryException(
                    QueryFault.Invalid,
                    $"The index '{named.Name}' {unable}",
                    request.Query.Source.Position
                )
                : new QueryRoute(
                    named.Name,
                    null,
                    IsBuilt: context.Indexes.ReadPosition(database, named.Name) is { VisibleEtag: > 0 },
                    NeedsIndex: true,
                    explains ? [new PlanReason(named.Name, "The query names it.", IsChosen: true)] : []
                );
    }

    private async ValueTask<QueryBasis> WaitAsync(
        Database database,
        QueryRequest request,
        QueryRoute route,
        string name,
        long cutOff,
        HttpContext http
    )
    {
        // What an index holds that is not built yet would be taken for all there is. One that the query names answers
        // with what it has, as in RavenDB, and is stale.
        bool mayScan = !route.IsBuilt && request.Named is null;
        if (
            route.ToDefine is { } definition
            && await context.AutomaticIndexes.DefineAsync(database, definition).WaitAsync(context.Stopping)
                is { } refusal
        )
        {
            return mayScan ? new QueryBasis(name, null, false, cutOff, null) : throw RavenErrors.Refuse(refusal);
        }

        // One that others have made, and that is not built yet, is built for some time: the documents are there now.
        bool isReached =
            (route.ToDefine is not null || route.NeedsIndex || !mayScan)
            && await WaitAsync(
                database,
                name,
                cutOff,
                request.Wait ?? (mayScan && route.NeedsIndex ? BuildWait : UnaskedWait),
                http
            );
        return isReached || !mayScan
            ? Answering(database, request, name, isReached, cutOff)
            : new QueryBasis(name, null, false, cutOff, null);
    }

    private async Task<bool> WaitAsync(Database database, string name, long cutOff, TimeSpan patience, HttpContext http)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        return await context.Indexes.WaitAsync(database, name, cutOff, patience, ending.Token);
    }

    private QueryBasis Answering(Database database, QueryRequest request, string name, bool isReached, long cutOff)
    {
        if (!isReached && request.Wait is { } waited)
        {
            throw new RefusedException(
                StatusCodes.Status500InternalServerError,
                RavenType.Timeout,
                $"The index '{name}' {WhyBehind(context, database, name, waited)}, or take a stale answer."
            );
        }

        var (visible, lastIndexed) = context.Indexes.ReadPosition(database, name) ?? (0, null);
        return new QueryBasis(name, name, !isReached, isReached ? Math.Max(cutOff, visible) : visible, lastIndexed);
    }
}
