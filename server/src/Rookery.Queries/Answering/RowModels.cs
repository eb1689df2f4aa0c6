using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Finds the model of <c>moreLikeThis</c>, the document that results should be similar to, in a static index. It is the
/// first document or reduced row that the inner condition matches.
/// </summary>
internal static class RowModels
{
    /// <summary>Finds the model of each <c>moreLikeThis</c> condition of a query.</summary>
    /// <param name="scope">The context of the answer.</param>
    /// <param name="indexName">The index.</param>
    /// <returns>False if the index does not exist on this node, or was reset and lags behind. The search that follows
    /// then fails in the same way.</returns>
    /// <exception cref="QueryException">No document or row matches.</exception>
    public static async ValueTask<bool> TrySetModelsAsync(AnswerScope scope, string indexName)
    {
        foreach (var model in scope.Compiled.ModelQueries.Where(static model => !model.Condition.HasModel))
        {
            using var indexAnswer = scope.Search(indexName, model.Finder);
            if (indexAnswer is null)
            {
                return false;
            }

            using var run = scope.StartRun(model.Finder);
            if (
                !await (
                    scope.Compiled.Rows!.IsReduced
                        ? FoundResults.ReadRowsAsync(
                            indexAnswer,
                            scope.Slices,
                            row => model.TrySetModel(document: default, row, run)
                        )
                        : SetModelDocumentAsync(scope, model, indexAnswer, run)
                )
            )
            {
                throw new QueryException(QueryFault.Invalid, ModelQuery.NotFound, model.Position);
            }
        }

        return true;
    }

    private static async ValueTask<bool> SetModelDocumentAsync(
        AnswerScope scope,
        ModelQuery model,
        IndexAnswer indexAnswer,
        ScanRun run
    )
    {
        using var rows = scope.RowsOf(model.Finder);
        return await FoundResults.ReadDocumentsAsync(
            scope,
            indexAnswer,
            walk =>
            {
                var document = scope.Writer.ReadCurrent(walk);
                return model.TrySetModel(document, rows.Of(document), run);
            }
        );
    }
}
