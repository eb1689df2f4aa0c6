using Rookery.Indexing.Values;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>
/// Begins to answer a query that names a static index. Conditions, orders and summaries are of the rows that it holds;
/// results are their documents, stored values of the rows, or reduced rows. What terms do not say is asked of rows that
/// the maps make anew of the documents found.
/// </summary>
internal static class RowQueries
{
    /// <summary>The results, before the first.</summary>
    /// <param name="engine">What answers.</param>
    /// <param name="reader">Reads the documents that the index is of.</param>
    /// <param name="query">What is asked.</param>
    /// <param name="basis">How far the index follows the documents at least.</param>
    /// <param name="sink">Whose room is taken for what is large.</param>
    /// <param name="writer">Writes documents; disposed with the results.</param>
    /// <param name="turns">The time of the query.</param>
    /// <returns>The results; null when the index was reset meanwhile and follows the documents no longer as
    /// far.</returns>
    /// <exception cref="QueryException">The query would cost more than one may.</exception>
    /// <exception cref="QueryException">The index is not there now.</exception>
    public static async ValueTask<IQueryResults?> TryOpenAsync(
        QueryEngine engine,
        AnswerReader reader,
        QueryPlan query,
        QueryBasis basis,
        IAnswerSink sink,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var database = reader.Database;
        var plan = query.Scan!;
        string name = query.Named!.Name;
        IndexAnswer? found = null;
        if (await RowLikeness.TryLearnAsync(engine, reader, plan, name, sink, writer, turns, basis.ResultEtag))
        {
            using var search = turns.BeginSearch();
            found = engine.Indexed.TryAnswer(database, name, plan, engine.Memory, turns, atLeast: basis.ResultEtag);
        }

        if (found is null)
        {
            return engine.Indexes.ReadPosition(database, name)?.VisibleEtag < basis.ResultEtag
                ? null
                : throw new QueryException(QueryFault.IndexUnavailable, IndexDelay.NotAtWork(name));
        }

        try
        {
            if (found.AreCandidates)
            {
                return await LookAtRowsAsync(engine, reader, query, found, sink, writer, turns);
            }

            return plan.Rows!.IsReduced
                ? new RowResults(new PageOfRows(found), plan, writer, reader, found)
                : PageOf(found, reader, plan, sink, writer, turns);
        }
        catch
        {
            found.Dispose();
            throw;
        }
    }

    /// <summary>The documents of a page. Those that were written since the index took them are asked again.</summary>
    private static WalkedResults PageOf(
        IndexAnswer found,
        AnswerReader reader,
        ScanPlan plan,
        IAnswerSink sink,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var ids = new FoundIds(found.Documents);
        var walk = new QueryWalk(reader, ids, DocumentQueries.ScoresOf(plan, found.Documents));
        var rows = new IndexRows(plan.Rows!, reader.Database, () => reader.Current);
        writer.RowOf = plan.IsOfEachRow ? place => found.ReadRow(place).ToArray() : null;
        return new WalkedResults(
            walk,
            writer,
            sink,
            found.TotalResults,
            new Both(found, rows),
            () => walk.Etag == ids.LastEtag || found.HasResult(writer.Queried(walk), rows),
            turns
        );
    }

    private static async ValueTask<IQueryResults> LookAtRowsAsync(
        QueryEngine engine,
        AnswerReader reader,
        QueryPlan query,
        IndexAnswer found,
        IAnswerSink sink,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var plan = query.Scan!;
        var run = plan.Start(engine.Memory, turns);
        var summary = plan.Summary?.Start(engine.Memory, turns);
        try
        {
            using var rows = new IndexRows(plan.Rows!, reader.Database, () => reader.Current);
            _ = await (
                plan.Rows!.IsReduced
                    ? FoundResults.LookAtRowsAsync(found, turns, row => Add(run, default, row, summary))
                    : FoundResults.LookAtDocumentsAsync(
                        reader,
                        found,
                        sink,
                        writer,
                        turns,
                        walk => AddDocument(walk, rows, run, summary, writer)
                    )
            );
            if (summary is not null)
            {
                run.Dispose();
                found.Dispose();
                return new SummaryResults(summary, reader);
            }

            turns.Begin();
            var ended = run.Finish();
            turns.End();
            ScannedDocument[] documents = [.. ended.Documents];
            if (plan.Rows!.IsReduced)
            {
                return new RowResults(
                    new ScannedRows(documents, ended.TotalResults),
                    plan,
                    writer,
                    reader,
                    new Both(run, found)
                );
            }

            writer.RowOf = plan.IsOfEachRow ? place => documents[place].Row : null;
            var walk = new QueryWalk(
                reader,
                [.. documents.Select(static one => one.Id)],
                DocumentQueries.ScoresOf(plan, documents)
            );
            return new WalkedResults(walk, writer, sink, ended.TotalResults, new Both(run, found), turns: turns);
        }
        catch
        {
            summary?.Dispose();
            run.Dispose();
            throw;
        }
    }

    private static bool AddDocument(
        QueryWalk walk,
        IndexRows rows,
        ScanRun run,
        SummaryRun? summary,
        ResultWriter writer
    )
    {
        var document = writer.Queried(walk);
        return Add(run, document, rows.Of(document), summary);
    }

    /// <summary>Takes the rows of a document, or a reduced one. Never enough: all are to be looked at.</summary>
    private static bool Add(ScanRun run, in QueriedDocument document, IReadOnlyList<byte[]> rows, SummaryRun? summary)
    {
        if (summary is null)
        {
            run.AddRows(document, rows);
        }
        else
        {
            run.AddRows(document, rows, summary);
        }

        return false;
    }

    private sealed class Both(IDisposable one, IDisposable other) : IDisposable
    {
        public void Dispose()
        {
            one.Dispose();
            other.Dispose();
        }
    }
}
