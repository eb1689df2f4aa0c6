using Rookery.Indexing.Values;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Begins to answer a query that names a static index. Conditions, orders and summaries are of the rows that it holds;
/// results are their documents, stored values of the rows, or reduced rows. What terms do not say is asked of rows that
/// the maps make anew of the documents found.
/// </summary>
internal static class RowQueries
{
    /// <summary>The results, before the first.</summary>
    /// <param name="context">The server.</param>
    /// <param name="reader">Reads the documents that the index is of.</param>
    /// <param name="request">What is asked.</param>
    /// <param name="basis">How far the index follows the documents at least.</param>
    /// <param name="answer">Whose room is taken for what is large.</param>
    /// <param name="writer">Writes documents; disposed with the results.</param>
    /// <param name="turns">The time of the query.</param>
    /// <param name="needsTotal">Whether results behind the page are counted.</param>
    /// <returns>The results; null when the index was reset meanwhile and follows the documents no longer as
    /// far.</returns>
    /// <exception cref="QueryException">The query would cost more than one may.</exception>
    /// <exception cref="RefusedException">The index is not there now.</exception>
    public static async ValueTask<IQueryResults?> TryOpenAsync(
        ServerContext context,
        AnswerReader reader,
        QueryRequest request,
        QueryBasis basis,
        DocumentAnswer answer,
        ResultWriter writer,
        QueryTurns turns,
        bool needsTotal
    )
    {
        var database = reader.Database;
        var plan = request.Plan!;
        string name = request.Named!.Name;
        IndexAnswer? found = null;
        if (await RowLikeness.TryLearnAsync(context, reader, plan, name, answer, writer, turns, basis.ResultEtag))
        {
            using var search = turns.BeginSearch();
            found = new IndexedQueries(context.Indexes).TryAnswer(
                database,
                name,
                plan,
                context.QueryMemory,
                turns,
                needsTotal,
                basis.ResultEtag
            );
        }

        if (found is null)
        {
            return context.Indexes.ReadPosition(database, name)?.VisibleEtag < basis.ResultEtag
                ? null
                : throw IndexCommand.NotAtWork(name);
        }

        try
        {
            if (found.AreCandidates)
            {
                return await LookAtRowsAsync(context, reader, request, found, answer, writer, turns);
            }

            return plan.Rows!.IsReduced
                ? new RowResults(new PageOfRows(found), plan, writer, reader, found)
                : PageOf(found, reader, plan, answer, writer, turns);
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
        DocumentAnswer answer,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var ids = new FoundIds(found.Documents);
        var walk = new QueryWalk(reader, ids, QueryResults.ScoresOf(plan, found.Documents));
        var rows = new IndexRows(plan.Rows!, reader.Database, () => reader.Current);
        writer.RowOf = plan.IsOfEachRow ? place => found.ReadRow(place).ToArray() : null;
        return new WalkedResults(
            walk,
            writer,
            answer,
            found.TotalResults,
            new Both(found, rows),
            () => walk.Etag == ids.LastEtag || found.HasResult(writer.Queried(walk), rows),
            turns
        );
    }

    private static async ValueTask<IQueryResults> LookAtRowsAsync(
        ServerContext context,
        AnswerReader reader,
        QueryRequest request,
        IndexAnswer found,
        DocumentAnswer answer,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        var plan = request.Plan!;
        var run = plan.Start(context.QueryMemory, turns);
        var summary = plan.Summary?.Start(context.QueryMemory, turns);
        try
        {
            using var rows = new IndexRows(plan.Rows!, reader.Database, () => reader.Current);
            _ = await (
                plan.Rows!.IsReduced
                    ? FoundResults.LookAtRowsAsync(found, turns, row => Add(run, default, row, summary))
                    : FoundResults.LookAtDocumentsAsync(
                        reader,
                        found,
                        answer,
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
                QueryResults.ScoresOf(plan, documents)
            );
            return new WalkedResults(walk, writer, answer, ended.TotalResults, new Both(run, found), turns: turns);
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
