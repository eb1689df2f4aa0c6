using Rookery.Documents.Databases;
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
    /// <param name="engine">What answers.</param>
    /// <param name="reader">Reads the documents that the index is of.</param>
    /// <param name="plan">The query.</param>
    /// <param name="indexName">The index.</param>
    /// <param name="sink">Whose room is taken for what is large.</param>
    /// <param name="writer">Reads documents.</param>
    /// <param name="turns">The time of the query.</param>
    /// <param name="atLeast">The etag through which the index has to follow the documents.</param>
    /// <returns>False when the index is not there now, or was reset and is behind that etag: whoever asks it finds
    /// out.</returns>
    /// <exception cref="QueryException">There is none.</exception>
    public static async ValueTask<bool> TryLearnAsync(
        QueryEngine engine,
        AnswerReader reader,
        ScanPlan plan,
        string indexName,
        IAnswerSink sink,
        ResultWriter writer,
        QueryTurns turns,
        long atLeast
    )
    {
        foreach (var likeness in plan.Likenesses.Where(static likeness => !likeness.Condition.IsLearned))
        {
            using var found = Search(engine, reader.Database, indexName, likeness.Finder, turns, atLeast);
            if (found is null)
            {
                return false;
            }

            using var run = likeness.Finder.Start(engine.Memory, turns);
            if (
                !await (
                    plan.Rows!.IsReduced
                        ? FoundResults.LookAtRowsAsync(found, turns, row => likeness.TryLearn(default, row, run))
                        : LearnDocumentAsync(reader, likeness, found, run, sink, writer, turns)
                )
            )
            {
                throw new QueryException(QueryFault.Invalid, LikenessSource.NotFound, likeness.Position);
            }
        }

        return true;
    }

    private static IndexAnswer? Search(
        QueryEngine engine,
        Database database,
        string indexName,
        ScanPlan finder,
        QueryTurns turns,
        long atLeast
    )
    {
        using var search = turns.BeginSearch();
        return engine.Indexed.TryAnswer(database, indexName, finder, engine.Memory, turns, atLeast: atLeast);
    }

    private static async ValueTask<bool> LearnDocumentAsync(
        AnswerReader reader,
        LikenessSource likeness,
        IndexAnswer found,
        ScanRun run,
        IAnswerSink sink,
        ResultWriter writer,
        QueryTurns turns
    )
    {
        using var rows = new IndexRows(likeness.Finder.Rows!, reader.Database, () => reader.Current);
        return await FoundResults.LookAtDocumentsAsync(
            reader,
            found,
            sink,
            writer,
            turns,
            walk => TryLearn(likeness, walk, rows, run, writer)
        );
    }

    private static bool TryLearn(
        LikenessSource likeness,
        QueryWalk walk,
        IndexRows rows,
        ScanRun run,
        ResultWriter writer
    )
    {
        var document = writer.Queried(walk);
        return likeness.TryLearn(document, rows.Of(document), run);
    }
}
