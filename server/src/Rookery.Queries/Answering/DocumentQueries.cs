using System.Text;
using Rookery.Documents.Schedules;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>
/// Opens the results of a query: from the chosen index, by a direct read of ids or a collection, or by a scan.
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
    /// <returns>The results and their basis. If an automatic index was reset meanwhile, both are of a scan. The results
    /// are null if a static index was reset and has not reached the basis's etag again. They are also null if
    /// <see cref="AnswerScope.LacksSnapshot"/>. Then <c>MissedEtag</c> is the etag that the index must include before
    /// the next try; otherwise it is null.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public static async ValueTask<(IQueryResults? Results, QueryBasis Basis, long? MissedEtag)> TryOpenAsync(
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
        var slices = engine.CreateTimeSlices(plan, sink);
        if (plan.Compiled is not { } compiled)
        {
            var direct = new WalkedResults(
                new QueryWalk(reader, plan.DirectRead!)
                {
                    DocumentRead = slices.CountRead,
                    Interrupts = () => slices.IsSliceOver,
                },
                new ResultWriter(database, compiled: null, metadataOnly, plan.HasReferences),
                sink,
                slices
            )
            {
                LimitsEachResult = true,
            };
            return (direct, basis, null);
        }

        var scripted = compiled.Script is { } script
            ? new ScriptedResults(script, memory, slices, Encoding.ASCII.GetBytes(database.HistoryId))
            : null;
        var writer = new ResultWriter(database, compiled, metadataOnly, plan.HasReferences, scripted, slices);
        IQueryResults? results = null;
        try
        {
            using var scope = new AnswerScope(engine, memory, reader, plan, compiled, basis, sink, writer, slices);
            results = compiled.Rows is null ? await OpenAsync(scope) : await RowQueries.TryOpenAsync(scope);
            return (results, scope.Basis, scope.MissedEtag);
        }
        finally
        {
            if (results is null)
            {
                writer.Dispose();
            }
        }
    }

    /// <summary>
    /// Opens the results of a query for documents or groups of documents: the page that an index found, an evaluation
    /// of the candidates that an index found, or a scan. Null if <see cref="AnswerScope.LacksSnapshot"/>.
    /// </summary>
    private static async ValueTask<IQueryResults?> OpenAsync(AnswerScope scope)
    {
        IndexAnswer? indexAnswer = null;
        if (scope.Basis.SearchedIndex is { } index)
        {
            // Both searches return null if the index was reset or is damaged: the scan below then computes the same
            // results. They also return null if the node has released the snapshot of the documents that the index
            // reflects. Then the caller chooses the basis again, which costs less than a scan.
            if (!scope.Compiled.IsGrouped)
            {
                indexAnswer = scope.Search(index, scope.Compiled);
            }
            else if (scope.SearchGroups(index) is { } groups)
            {
                return new GroupResults(groups, groups.Results, scope.Reader) { FilteredCount = groups.FilteredCount };
            }

            if (scope.LacksSnapshot)
            {
                return null;
            }
        }

        QueryWalk? walk = null;
        ScannedDocuments? opened = null;
        try
        {
            if (indexAnswer is { AreCandidates: false })
            {
                return scope.OpenPage(
                    found: indexAnswer,
                    disposedWithResults: indexAnswer,
                    (document, etag) =>
                        !ScheduledTimes.IsArchived(document.View.Metadata) && indexAnswer.IsStillResult(document, etag)
                );
            }

            if (indexAnswer is null)
            {
                await PrepareScanAsync(scope);
                scope.SwitchToScan();
                var target = DocumentSelection.Of(scope.Compiled.Target);
                walk = new QueryWalk(scope.Reader, target)
                {
                    DocumentRead = scope.Slices.CountRead,
                    ExcludesArchived = scope.Compiled.ExcludesArchived,
                    Interrupts = () => scope.Slices.IsSliceOver,
                };
            }
            else
            {
                walk = new QueryWalk(scope.Reader, new FoundIds(indexAnswer.Documents), scores: null)
                {
                    ExcludesArchived = true, // documents that were archived after the index read them
                    Interrupts = () => scope.Slices.IsSliceOver,
                };
            }

            opened = new ScannedDocuments(
                scope,
                walk,
                scope.StartRun(scope.Compiled),
                countsAll: scope.Plan.Query.FilterLimit is not null,
                indexAnswer
            );
            return await ScanAsync(scope, opened);
        }
        catch
        {
            if (opened is null)
            {
                walk?.Dispose();
                indexAnswer?.Dispose();
            }

            opened?.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Evaluates the documents. Results without sort and groups are streamed: only the first is found here.
    /// </summary>
    private static async ValueTask<IQueryResults> ScanAsync(AnswerScope scope, ScannedDocuments documents)
    {
        if (scope.StartSummary() is { } summary)
        {
            return await SummariseAsync(scope, summary, documents);
        }

        if (await documents.MoveNextAsync())
        {
            return new StreamedResults(
                documents,
                scope.Writer,
                () => scope.StartRun(scope.Compiled, needsTotal: false)
            );
        }

        documents.Walk.Pause();
        scope.Slices.StartClock();
        var results = documents.Run.Finish();
        scope.Slices.StopClock();
        if (scope.Plan.Query.GroupBy.Count > 0)
        {
            return new GroupResults(documents, results, scope.Reader) { FilteredCount = documents.Run.FilteredCount };
        }

        ScannedDocument[] page = [.. results.Documents];
        return scope.OpenWalkedResults(
            new QueryWalk(scope.Reader, [.. page.Select(static document => document.Id)], scope.ScoresOf(page)),
            results.TotalResults,
            documents,
            filteredCount: documents.Run.FilteredCount
        );
    }

    /// <summary>Computes a summary (facets or suggestions) of all matching documents.</summary>
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
    private static async ValueTask PrepareScanAsync(AnswerScope scope)
    {
        foreach (var model in scope.Compiled.ModelQueries.Where(static model => !model.Condition.HasModel))
        {
            using var modelScan = OpenScan(scope, model.Finder, model.Finder.ExcludesArchived);
            if (!await modelScan.MoveNextAsync())
            {
                throw new QueryException(QueryFault.Invalid, ModelQuery.NotFound, model.Position);
            }

            model.Condition.SetModel(scope.Writer.ReadCurrent(modelScan.Walk));
        }

        if (scope.Compiled.AreWordsCounted || scope.Compiled.WordCountQuery is not { } wordCountQuery)
        {
            return;
        }

        // The statistics of an index have no words of archived documents.
        using var countedScan = OpenScan(scope, wordCountQuery, scope.Compiled.ExcludesArchived);
        while (await countedScan.MoveNextAsync())
        {
            scope.Slices.StartClock();
            scope.Compiled.CountWords(scope.Writer.ReadCurrent(countedScan.Walk), scope.Slices);
            scope.Slices.StopClock();
        }
        scope.Compiled.AreWordsCounted = true;
    }

    private static ScannedDocuments OpenScan(AnswerScope scope, CompiledQuery query, bool excludesArchived)
    {
        var walk = new QueryWalk(scope.Reader, DocumentSelection.Of(query.Target))
        {
            ExcludesArchived = excludesArchived,
            Interrupts = () => scope.Slices.IsSliceOver,
        };
        try
        {
            return new ScannedDocuments(scope, walk, scope.StartRun(query, needsTotal: false), countsAll: false);
        }
        catch
        {
            walk.Dispose();
            throw;
        }
    }
}
