using Rookery.Queries.Execution;

namespace Rookery.Queries.Answering;

/// <summary>
/// Reads the documents or rows that an index search found, one by one, until a callback returns true. Yields between
/// time slices.
/// </summary>
internal static class FoundResults
{
    /// <summary>Reads the documents. Waits for memory before each.</summary>
    /// <param name="scope">The context of the answer.</param>
    /// <param name="found">The answer of the index.</param>
    /// <param name="isLast">Reads the walk's current document; returns true if it is the last to read.</param>
    /// <returns>Whether the callback stopped it.</returns>
    public static async ValueTask<bool> ReadDocumentsAsync(
        AnswerScope scope,
        IndexAnswer found,
        Func<QueryWalk, bool> isLast
    )
    {
        var (turns, sink) = (scope.Turns, scope.Sink);
        using var walk = new QueryWalk(scope.Reader, new FoundIds(found.Documents), scores: null);
        bool hasStopped = false;
        turns.Begin();
        while (!hasStopped && walk.MoveNext())
        {
            long bytes = scope.Writer.BytesFor(walk.Length);
            if (!sink.TryReserve(bytes))
            {
                walk.StepBack();
                turns.End();
                await sink.WaitForMemoryAsync(bytes);
                turns.Begin();
                continue;
            }

            hasStopped = isLast(walk);
            if (turns.IsOver)
            {
                walk.Pause();
                await turns.YieldAsync();
            }
        }

        turns.End();
        return hasStopped;
    }

    /// <summary>Reads the reduced rows.</summary>
    /// <param name="found">The answer of the index.</param>
    /// <param name="turns">Limits the query's working time.</param>
    /// <param name="isLast">Reads a row; returns true if it is the last to read.</param>
    /// <returns>Whether the callback stopped it.</returns>
    public static async ValueTask<bool> ReadRowsAsync(IndexAnswer found, QueryTurns turns, Func<byte[][], bool> isLast)
    {
        bool hasStopped = false;
        turns.Begin();
        for (int i = 0; i < found.Documents.Count && !hasStopped; i++)
        {
            if (turns.IsOver)
            {
                await turns.YieldAsync();
            }

            hasStopped = isLast([found.ReadRow(i).ToArray()]);
        }

        turns.End();
        return hasStopped;
    }
}
