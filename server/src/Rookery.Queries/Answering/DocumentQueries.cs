using System.Text;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>
/// Opens the results of a query: from an index if the basis has one, else by a scan of the documents.
/// </summary>
internal static class DocumentQueries
{
    /// <summary>
    /// Opens the results, positioned before the first. Sorted or grouped results are computed completely first.
    /// </summary>
    /// <param name="engine">The engine that runs the query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="reader">Reads the documents; outlives the results.</param>
    /// <param name="plan">The plan of the query.</param>
    /// <param name="basis">The chosen index or scan.</param>
    /// <param name="sink">Receives the answer, and reserves memory for large documents.</param>
    /// <param name="metadataOnly">Whether to return only the metadata of whole documents.</param>
    /// <returns>The results and their basis. If an automatic index was reset meanwhile, both are of a scan. If a static
    /// index was reset and has not reached the basis's etag again, the results are null.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public static async ValueTask<(IQueryResults? Results, QueryBasis Basis)> TryOpenAsync(
        QueryEngine engine,
        QueryMemory memory,
        AnswerReader reader,
        QueryPlan plan,
        QueryBasis basis,
        IAnswerSink sink,
        bool metadataOnly
    )
    {
        var database = reader.Database;
        var turns = engine.TurnsOf(plan, sink);
        if (plan.Scan is not { } scan)
        {
            var direct = new WalkedResults(
                new QueryWalk(reader, plan.Direct!) { Passed = turns.CountSkipped },
                new ResultWriter(database, null, metadataOnly, plan.Includes.Count > 0),
                sink
            );
            return (direct, basis);
        }

        var scripted = scan.Script is { } script
            ? new ScriptedResults(script, memory, turns, Encoding.ASCII.GetBytes(database.HistoryId))
            : null;
        var writer = new ResultWriter(database, scan, metadataOnly, plan.Includes.Count > 0, scripted, turns);
        IQueryResults? results = null;
        try
        {
            var scope = new AnswerScope(engine, memory, reader, plan, scan, basis, sink, writer, turns);
            results = scan.Rows is null ? await OpenAsync(scope) : await RowQueries.TryOpenAsync(scope);
            return (results, scope.Basis);
        }
        finally
        {
            if (results is null)
            {
                writer.Dispose();
            }
        }
    }

    private static async ValueTask<IQueryResults> OpenAsync(AnswerScope scope)
    {
        // SearchGroups returns null if the index was reset. The scan below then computes the same groups.
        if (
            scope is { Scan.IsGrouped: true, Basis.Answering: { } groupIndex }
            && scope.SearchGroups(groupIndex) is { } groups
        )
        {
            return new GroupResults(groups, groups.Results, scope.Reader);
        }

        var found = scope is { Scan.IsGrouped: false, Basis.Answering: { } index }
            ? scope.Search(index, scope.Scan)
            : null;
        QueryWalk? walk = null;
        ScannedDocuments? opened = null;
        try
        {
            if (found is { AreCandidates: false })
            {
                return PageOf(scope, found);
            }

            if (found is null)
            {
                await PrepareAsync(scope);
                scope.AnswerFromScan();
            }

            walk = found is null
                ? new QueryWalk(scope.Reader, IdQuery.Of(scope.Scan.Target)) { Passed = scope.Turns.CountSkipped }
                : new QueryWalk(scope.Reader, new FoundIds(found.Documents), scores: null);
            opened = new ScannedDocuments(
                scope,
                walk,
                scope.Start(scope.Scan),
                countsAll: scope.Plan.Query.FilterLimit is not null,
                found
            );
            return await ScanAsync(scope, opened);
        }
        catch
        {
            if (opened is null)
            {
                walk?.Dispose();
                found?.Dispose();
            }

            opened?.Dispose();
            throw;
        }
    }

    private static async ValueTask<IQueryResults> ScanAsync(AnswerScope scope, ScannedDocuments documents)
    {
        if (scope.StartSummary() is { } summary)
        {
            return await SummariseAsync(scope, summary, documents);
        }

        if (await documents.MoveNextAsync())
        {
            return new StreamedResults(documents, scope.Writer, () => scope.Start(scope.Scan, needsTotal: false));
        }

        documents.Walk.Pause();
        scope.Turns.Begin();
        var ended = documents.Run.Finish();
        scope.Turns.End();
        if (scope.Plan.Query.GroupBy.Count > 0)
        {
            return new GroupResults(documents, ended, scope.Reader);
        }

        ScannedDocument[] page = [.. ended.Documents];
        return scope.Walked(
            new QueryWalk(scope.Reader, [.. page.Select(static one => one.Id)], scope.ScoresOf(page)),
            ended.TotalResults,
            documents
        );
    }

    // A document that was written after the index read it is evaluated again.
    private static WalkedResults PageOf(AnswerScope scope, IndexAnswer found)
    {
        var ids = new FoundIds(found.Documents);
        var walk = new QueryWalk(scope.Reader, ids, scope.ScoresOf(found.Documents));
        return scope.Walked(
            walk,
            found.TotalResults,
            found,
            () => walk.Etag == ids.LastEtag || found.IsStillResult(scope.Writer.Queried(walk), ids.LastEtag)
        );
    }

    private static async ValueTask<SummaryResults> SummariseAsync(
        AnswerScope scope,
        SummaryRun summary,
        ScannedDocuments documents
    )
    {
        try
        {
            await SummaryResults.GatherAsync(scope, documents, summary);
        }
        catch
        {
            summary.Dispose();
            throw;
        }

        documents.Dispose();
        return new SummaryResults(summary, scope.Reader);
    }

    /// <summary>
    /// Runs the scans that the query needs first: one for each <c>moreLikeThis</c>, to find its model document, and one
    /// that collects word statistics for scores. They count against the query's time limit.
    /// </summary>
    private static async ValueTask PrepareAsync(AnswerScope scope)
    {
        foreach (var likeness in scope.Scan.Likenesses.Where(static likeness => !likeness.Condition.IsLearned))
        {
            using var first = Open(scope, likeness.Finder);
            if (!await first.MoveNextAsync())
            {
                throw new QueryException(QueryFault.Invalid, LikenessSource.NotFound, likeness.Position);
            }

            likeness.Condition.Learn(scope.Writer.Queried(first.Walk));
        }

        if (scope.Scan.IsCounted || scope.Scan.Counted is not { } counted)
        {
            return;
        }

        using var all = Open(scope, counted);
        while (await all.MoveNextAsync())
        {
            scope.Turns.Begin();
            scope.Scan.Count(scope.Writer.Queried(all.Walk), scope.Turns);
            scope.Turns.End();
        }

        scope.Scan.IsCounted = true;
    }

    private static ScannedDocuments Open(AnswerScope scope, CompiledQuery part)
    {
        var walk = new QueryWalk(scope.Reader, IdQuery.Of(part.Target));
        try
        {
            return new ScannedDocuments(scope, walk, scope.Start(part, needsTotal: false), countsAll: false);
        }
        catch
        {
            walk.Dispose();
            throw;
        }
    }
}
