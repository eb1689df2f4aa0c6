using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Finds the model of <c>moreLikeThis</c>, the document that results should be similar to, in a static index. It is the
/// first document or reduced row that the inner condition matches.
/// </summary>
internal static class RowLikeness
{
    /// <summary>Finds the model of each <c>moreLikeThis</c> condition of a query.</summary>
    /// <param name="scope">The context of the answer.</param>
    /// <param name="indexName">The index.</param>
    /// <returns>False if the index does not exist on this node, or was reset and lags behind. The search that follows
    /// then fails in the same way.</returns>
    /// <exception cref="QueryException">No document or row matches.</exception>
    public static async ValueTask<bool> TryLearnAsync(AnswerScope scope, string indexName)
    {
        foreach (var likeness in scope.Scan.Likenesses.Where(static likeness => !likeness.Condition.IsLearned))
        {
            using var found = scope.Search(indexName, likeness.Finder);
            if (found is null)
            {
                return false;
            }

            using var run = scope.Start(likeness.Finder);
            if (
                !await (
                    scope.Scan.Rows!.IsReduced
                        ? FoundResults.ReadRowsAsync(found, scope.Turns, row => likeness.TryLearn(default, row, run))
                        : LearnDocumentAsync(scope, likeness, found, run)
                )
            )
            {
                throw new QueryException(QueryFault.Invalid, LikenessSource.NotFound, likeness.Position);
            }
        }

        return true;
    }

    private static async ValueTask<bool> LearnDocumentAsync(
        AnswerScope scope,
        LikenessSource likeness,
        IndexAnswer found,
        ScanRun run
    )
    {
        using var rows = scope.RowsOf(likeness.Finder);
        return await FoundResults.ReadDocumentsAsync(
            scope,
            found,
            walk =>
            {
                var document = scope.Writer.Queried(walk);
                return likeness.TryLearn(document, rows.Of(document), run);
            }
        );
    }
}
