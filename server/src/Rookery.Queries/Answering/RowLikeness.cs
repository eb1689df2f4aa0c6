using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Finds what <c>moreLikeThis</c> of a static index compares with: the first document, or reduced row, that its
/// condition finds there.
/// </summary>
internal static class RowLikeness
{
    /// <summary>Has all conditions of a query learn theirs.</summary>
    /// <param name="scope">What the answer is made with.</param>
    /// <param name="indexName">The index.</param>
    /// <returns>False when the index is not there now, or was reset and is behind: whoever asks it finds out.</returns>
    /// <exception cref="QueryException">There is none.</exception>
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
                        ? FoundResults.LookAtRowsAsync(found, scope.Turns, row => likeness.TryLearn(default, row, run))
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
        return await FoundResults.LookAtDocumentsAsync(
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
