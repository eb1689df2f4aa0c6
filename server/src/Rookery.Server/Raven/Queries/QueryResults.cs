using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;

namespace Rookery.Server.Raven.Queries;

/// <summary>Begins to answer a query.</summary>
internal static class QueryResults
{
    /// <summary>
    /// The query as the static index that it names answers it now: that may have been replaced while the query waited
    /// for it.
    /// </summary>
    /// <exception cref="QueryException">The new definition cannot answer it.</exception>
    public static QueryRequest Renew(ServerContext context, HttpContext http, Database database, QueryRequest request)
    {
        if (
            request is not { Named.Rows: { } asked, Again: { } again }
            || new IndexedQueries(context.Indexes).ReadRows(database, asked.IndexName)?.IsSameDefinition(asked)
                is not false
        )
        {
            return request;
        }

        var renewed = again();
        http.Response.RegisterForDispose(renewed);
        return renewed;
    }

    /// <summary>The results, before the first. Those that have to be sorted or grouped are all found then.</summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="reader">Reads the documents that are asked for; outlives the results.</param>
    /// <param name="request">What is asked.</param>
    /// <param name="basis">What its answer rests on.</param>
    /// <param name="answer">Whose room is taken for what is large.</param>
    /// <param name="metadataOnly">Whether of whole documents only the metadata is wanted.</param>
    /// <param name="needsTotal">Whether results behind the page are counted.</param>
    /// <returns>The results; null when the index that answers was reset meanwhile and follows the documents no longer
    /// as far as the basis says.</returns>
    /// <exception cref="QueryException">The query would cost more than one may.</exception>
    /// <exception cref="RefusedException">There was no room for a large document.</exception>
    public static async ValueTask<IQueryResults?> TryOpenAsync(
        ServerContext context,
        HttpContext http,
        AnswerReader reader,
        QueryRequest request,
        QueryBasis basis,
        DocumentAnswer answer,
        bool metadataOnly,
        bool needsTotal = true
    )
    {
        var database = reader.Database;
        if (request.Plan is not { } plan)
        {
            var walk = new QueryWalk(reader, request.Direct!) { Passed = new WorkTurns(context, http).Pass };
            return new WalkedResults(
                walk,
                new ResultWriter(database, null, metadataOnly, request.Includes.Count > 0),
                answer
            );
        }

        var turns = new QueryTurns(
            context.Time,
            request.WorkLimit,
            http,
            request.IsChange ? null : context.LongSearches,
            context.Stopping
        );
        var scripted = plan.Script is { } script
            ? new ScriptedResults(script, context.QueryMemory, turns, Encoding.ASCII.GetBytes(database.HistoryId))
            : null;
        var writer = new ResultWriter(database, plan, metadataOnly, request.Includes.Count > 0, scripted, turns);
        IDisposable? opened = null;
        try
        {
            if (plan.Rows is not null)
            {
                var rows = await RowQueries.TryOpenAsync(
                    context,
                    reader,
                    request,
                    basis,
                    answer,
                    writer,
                    turns,
                    needsTotal
                );
                if (rows is null)
                {
                    writer.Dispose();
                }

                return rows;
            }

            if (SearchGroups(context, database, plan, basis, turns, needsTotal) is { } groups)
            {
                return new GroupResults(groups, groups.Results, reader);
            }

            var found = plan.IsGrouped ? null : Search(context, database, plan, basis, turns);
            opened = found;
            if (found is { AreCandidates: false })
            {
                return PageOf(found, reader, plan, writer, answer, turns);
            }

            if (found is null)
            {
                await PrepareAsync(
                    plan,
                    part => new ScannedDocuments(
                        reader,
                        new QueryWalk(reader, IdQuery.Of(part.Target)),
                        part.Start(context.QueryMemory, turns, needsTotal: false),
                        writer,
                        answer,
                        turns,
                        countsAll: false,
                        null
                    ),
                    writer,
                    turns
                );
            }

            var scanned = found is null
                ? new QueryWalk(reader, IdQuery.Of(plan.Target)) { Passed = new WorkTurns(context, http).Pass }
                : new QueryWalk(reader, new FoundIds(found.Documents), scores: null);
            var scan = new ScannedDocuments(
                reader,
                scanned,
                plan.Start(context.QueryMemory, turns, needsTotal),
                writer,
                answer,
                turns,
                countsAll: request.Query.FilterLimit is not null,
                found
            );
            opened = scan;
            if (plan.Summary is { } summary)
            {
                return await SummariseAsync(context, reader, summary, scan, writer, turns);
            }

            if (await scan.MoveNextAsync())
            {
                return new StreamedResults(
                    scan,
                    writer,
                    () => plan.Start(context.QueryMemory, turns, needsTotal: false)
                );
            }

            scanned.Pause();
            turns.Begin();
            var ended = scan.Run.Finish();
            turns.End();
            return request.Query.GroupBy.Count > 0
                ? new GroupResults(scan, ended, reader)
                : new WalkedResults(
                    WalkOf(reader, plan, [.. ended.Documents]),
                    writer,
                    answer,
                    ended.TotalResults,
                    scan,
                    turns: turns
                );
        }
        catch
        {
            opened?.Dispose();
            writer.Dispose();
            throw;
        }
    }

    private static IndexAnswer? Search(
        ServerContext context,
        Database database,
        ScanPlan plan,
        QueryBasis basis,
        QueryTurns turns
    )
    {
        using var search = turns.BeginSearch();
        return basis.Answering is { } name
            ? new IndexedQueries(context.Indexes).TryAnswer(
                database,
                name,
                plan,
                context.QueryMemory,
                turns,
                atLeast: basis.ResultEtag
            )
            : null;
    }

    // Null also where the index was reset meanwhile: putting the documents into groups gives the same.
    private static GroupAnswer? SearchGroups(
        ServerContext context,
        Database database,
        ScanPlan plan,
        QueryBasis basis,
        QueryTurns turns,
        bool needsTotal
    )
    {
        if (!plan.IsGrouped || basis.Answering is not { } name)
        {
            return null;
        }

        using var search = turns.BeginSearch();
        return new GroupedQueries(context.Indexes).TryAnswer(
            database,
            name,
            plan,
            context.QueryMemory,
            turns,
            needsTotal,
            basis.ResultEtag
        );
    }

    // An index follows the documents with a delay: of those that were written since it is asked again.
    private static WalkedResults PageOf(
        IndexAnswer found,
        AnswerReader reader,
        ScanPlan plan,
        ResultWriter writer,
        DocumentAnswer answer,
        QueryTurns turns
    )
    {
        var ids = new FoundIds(found.Documents);
        var walk = new QueryWalk(reader, ids, ScoresOf(plan, found.Documents));
        return new WalkedResults(
            walk,
            writer,
            answer,
            found.TotalResults,
            found,
            () => walk.Etag == ids.LastEtag || found.IsStillResult(writer.Queried(walk), ids.LastEtag),
            turns
        );
    }

    private static async ValueTask<SummaryResults> SummariseAsync(
        ServerContext context,
        AnswerReader reader,
        QuerySummary summary,
        ScannedDocuments scan,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var run = summary.Start(context.QueryMemory, turns);
        try
        {
            await SummaryResults.GatherAsync(scan, run, writer, turns);
        }
        catch
        {
            run.Dispose();
            throw;
        }

        scan.Dispose();
        return new SummaryResults(run, reader);
    }

    private static QueryWalk WalkOf(AnswerReader reader, ScanPlan plan, ScannedDocument[] found) =>
        new(reader, [.. found.Select(static one => one.Id)], ScoresOf(plan, found));

    internal static double[]? ScoresOf(ScanPlan plan, IReadOnlyList<ScannedDocument> found) =>
        plan.IsScored ? [.. found.Select(static one => one.Score ?? 0)] : null;

    /// <summary>
    /// Looks at the documents that conditions depend on. Each time it is a scan of its own, and its time is the
    /// query's.
    /// </summary>
    private static async ValueTask PrepareAsync(
        ScanPlan plan,
        Func<ScanPlan, ScannedDocuments> open,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        foreach (var likeness in plan.Likenesses.Where(static likeness => !likeness.Condition.IsLearned))
        {
            using var scan = open(likeness.Finder);
            if (!await scan.MoveNextAsync())
            {
                throw new QueryException(QueryFault.Invalid, LikenessSource.NotFound, likeness.Position);
            }

            likeness.Condition.Learn(writer.Queried(scan.Walk));
        }

        if (plan.IsCounted || plan.Counted is not { } counted)
        {
            return;
        }

        using var all = open(counted);
        while (await all.MoveNextAsync())
        {
            turns.Begin();
            plan.Count(writer.Queried(all.Walk), turns);
            turns.End();
        }

        plan.IsCounted = true;
    }
}
