using System.Text;
using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>
/// Begins to answer a query: from an index where one answers, by looking at documents where none does.
/// </summary>
internal static class DocumentQueries
{
    /// <summary>The results, before the first. Those that have to be sorted or grouped are all found then.</summary>
    /// <param name="engine">What answers.</param>
    /// <param name="reader">Reads the documents that are asked for; outlives the results.</param>
    /// <param name="query">What is asked.</param>
    /// <param name="basis">What its answer rests on.</param>
    /// <param name="sink">Whose room is taken for what is large.</param>
    /// <param name="metadataOnly">Whether of whole documents only the metadata is wanted.</param>
    /// <returns>The results; null when the index that answers was reset meanwhile and follows the documents no longer
    /// as far as the basis says.</returns>
    /// <exception cref="QueryException">The query would cost more than one may.</exception>
    public static async ValueTask<IQueryResults?> TryOpenAsync(
        QueryEngine engine,
        AnswerReader reader,
        QueryPlan query,
        QueryBasis basis,
        IAnswerSink sink,
        bool metadataOnly
    )
    {
        var database = reader.Database;
        var turns = engine.TurnsOf(query, sink);
        if (query.Scan is not { } plan)
        {
            var walk = new QueryWalk(reader, query.Direct!) { Passed = turns.Pass };
            return new WalkedResults(
                walk,
                new ResultWriter(database, null, metadataOnly, query.Includes.Count > 0),
                sink
            );
        }

        var scripted = plan.Script is { } script
            ? new ScriptedResults(script, engine.Memory, turns, Encoding.ASCII.GetBytes(database.HistoryId))
            : null;
        var writer = new ResultWriter(database, plan, metadataOnly, query.Includes.Count > 0, scripted, turns);
        IDisposable? opened = null;
        try
        {
            if (plan.Rows is not null)
            {
                var rows = await RowQueries.TryOpenAsync(engine, reader, query, basis, sink, writer, turns);
                if (rows is null)
                {
                    writer.Dispose();
                }

                return rows;
            }

            if (SearchGroups(engine, database, plan, basis, turns) is { } groups)
            {
                return new GroupResults(groups, groups.Results, reader);
            }

            var found = plan.IsGrouped ? null : Search(engine, database, plan, basis, turns);
            opened = found;
            if (found is { AreCandidates: false })
            {
                return PageOf(found, reader, plan, writer, sink, turns);
            }

            if (found is null)
            {
                await PrepareAsync(
                    plan,
                    part => new ScannedDocuments(
                        reader,
                        new QueryWalk(reader, IdQuery.Of(part.Target)),
                        part.Start(engine.Memory, turns, needsTotal: false),
                        writer,
                        sink,
                        turns,
                        countsAll: false,
                        null
                    ),
                    writer,
                    turns
                );
            }

            var scanned = found is null
                ? new QueryWalk(reader, IdQuery.Of(plan.Target)) { Passed = turns.Pass }
                : new QueryWalk(reader, new FoundIds(found.Documents), scores: null);
            var scan = new ScannedDocuments(
                reader,
                scanned,
                plan.Start(engine.Memory, turns),
                writer,
                sink,
                turns,
                countsAll: query.Query.FilterLimit is not null,
                found
            );
            opened = scan;
            if (plan.Summary is { } summary)
            {
                return await SummariseAsync(engine, reader, summary, scan, writer, turns);
            }

            if (await scan.MoveNextAsync())
            {
                return new StreamedResults(scan, writer, () => plan.Start(engine.Memory, turns, needsTotal: false));
            }

            scanned.Pause();
            turns.Begin();
            var ended = scan.Run.Finish();
            turns.End();
            return query.Query.GroupBy.Count > 0
                ? new GroupResults(scan, ended, reader)
                : new WalkedResults(
                    WalkOf(reader, plan, [.. ended.Documents]),
                    writer,
                    sink,
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
        QueryEngine engine,
        Database database,
        ScanPlan plan,
        QueryBasis basis,
        QueryTurns turns
    )
    {
        using var search = turns.BeginSearch();
        return basis.Answering is { } name
            ? engine.Indexed.TryAnswer(database, name, plan, engine.Memory, turns, atLeast: basis.ResultEtag)
            : null;
    }

    // Null also where the index was reset meanwhile: putting the documents into groups gives the same.
    private static GroupAnswer? SearchGroups(
        QueryEngine engine,
        Database database,
        ScanPlan plan,
        QueryBasis basis,
        QueryTurns turns
    )
    {
        if (!plan.IsGrouped || basis.Answering is not { } name)
        {
            return null;
        }

        using var search = turns.BeginSearch();
        return engine.Grouped.TryAnswer(database, name, plan, engine.Memory, turns, atLeast: basis.ResultEtag);
    }

    // An index follows the documents with a delay: of those that were written since it is asked again.
    private static WalkedResults PageOf(
        IndexAnswer found,
        AnswerReader reader,
        ScanPlan plan,
        ResultWriter writer,
        IAnswerSink sink,
        QueryTurns turns
    )
    {
        var ids = new FoundIds(found.Documents);
        var walk = new QueryWalk(reader, ids, ScoresOf(plan, found.Documents));
        return new WalkedResults(
            walk,
            writer,
            sink,
            found.TotalResults,
            found,
            () => walk.Etag == ids.LastEtag || found.IsStillResult(writer.Queried(walk), ids.LastEtag),
            turns
        );
    }

    private static async ValueTask<SummaryResults> SummariseAsync(
        QueryEngine engine,
        AnswerReader reader,
        QuerySummary summary,
        ScannedDocuments scan,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var run = summary.Start(engine.Memory, turns);
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
