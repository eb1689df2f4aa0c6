using Rookery.Indexing.Values;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>
/// Opens the results of a query that names a static index. Conditions, sort keys and summaries apply to the rows of the
/// index; the results are the rows' documents, their stored values, or reduced rows. If the terms of the index cannot
/// decide a condition, the maps compute the rows of the candidate documents again.
/// </summary>
internal static class RowQueries
{
    /// <summary>Opens the results, positioned before the first.</summary>
    /// <param name="scope">The context of the answer.</param>
    /// <returns>The results; null if the index was reset meanwhile and has not reached the basis's etag again, or if
    /// <see cref="AnswerScope.LacksSnapshot"/>.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory, or the index cannot answer on this node
    /// now.</exception>
    public static async ValueTask<IQueryResults?> TryOpenAsync(AnswerScope scope)
    {
        var compiled = scope.Compiled;
        string name = scope.Plan.NamedIndex!.Name;
        var indexAnswer = await RowModels.TrySetModelsAsync(scope, name) ? scope.Search(name, compiled) : null;
        if (indexAnswer is null)
        {
            return scope.LacksSnapshot || scope.IsBehind(name)
                ? null
                : throw new QueryException(QueryFault.IndexUnavailable, IndexDelay.NotReady(name));
        }

        try
        {
            if (indexAnswer.AreCandidates)
            {
                return await EvaluateAsync(scope, indexAnswer);
            }

            return compiled.Rows!.IsReduced
                ? new RowResults(new PageOfRows(indexAnswer), compiled, scope.Writer, scope.Reader, indexAnswer)
                : PageOf(scope, indexAnswer);
        }
        catch
        {
            indexAnswer.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Returns the documents of the page. A document that was written after the index read it is evaluated again.
    /// </summary>
    private static WalkedResults PageOf(AnswerScope scope, IndexAnswer indexAnswer)
    {
        var rows = scope.RowsOf(scope.Compiled);
        scope.Writer.RowOf = scope.Compiled.ReturnsEachRow ? position => indexAnswer.ReadRow(position).ToArray() : null;
        return scope.OpenPage(
            indexAnswer,
            new DisposablePair(indexAnswer, rows),
            (document, _) => indexAnswer.HasResult(document, rows)
        );
    }

    private static async ValueTask<IQueryResults> EvaluateAsync(AnswerScope scope, IndexAnswer indexAnswer)
    {
        var compiled = scope.Compiled;
        var run = scope.StartRun(compiled);
        var summary = scope.StartSummary();
        try
        {
            using var rows = scope.RowsOf(compiled);
            _ = await (
                compiled.Rows!.IsReduced
                    ? FoundResults.ReadRowsAsync(
                        indexAnswer,
                        scope.Slices,
                        row => Add(run, document: default, row, summary)
                    )
                    : FoundResults.ReadDocumentsAsync(
                        scope,
                        indexAnswer,
                        walk =>
                        {
                            var document = scope.Writer.ReadCurrent(walk);
                            return Add(run, document, rows.Of(document), summary);
                        }
                    )
            );
            if (summary is not null)
            {
                run.Dispose();
                indexAnswer.Dispose();
                return new SummaryResults(summary, scope.Reader);
            }

            scope.Slices.StartClock();
            var results = run.Finish();
            scope.Slices.StopClock();
            ScannedDocument[] documents = [.. results.Documents];
            var owner = new DisposablePair(run, indexAnswer);
            if (compiled.Rows!.IsReduced)
            {
                return new RowResults(
                    new ScannedRows(documents, results.TotalResults),
                    compiled,
                    scope.Writer,
                    scope.Reader,
                    owner
                )
                {
                    FilteredCount = run.FilteredCount,
                };
            }

            scope.Writer.RowOf = compiled.ReturnsEachRow ? position => documents[position].Row : null;
            return scope.OpenWalkedResults(
                new QueryWalk(
                    scope.Reader,
                    [.. documents.Select(static document => document.Id)],
                    scope.ScoresOf(documents)
                ),
                results.TotalResults,
                owner,
                filteredCount: run.FilteredCount
            );
        }
        catch
        {
            summary?.Dispose();
            run.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Adds the rows of a document, or one reduced row. Returns whether no further row can change the answer.
    /// </summary>
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

        return run.IsComplete;
    }

    private sealed class DisposablePair(IDisposable first, IDisposable second) : IDisposable
    {
        public void Dispose()
        {
            first.Dispose();
            second.Dispose();
        }
    }
}
