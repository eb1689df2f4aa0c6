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
    /// <param name="indexAnswer">The answer of the index.</param>
    /// <param name="isLast">Reads the walk's current document; returns true if it is the last to read.</param>
    /// <returns>Whether the callback ended the reading.</returns>
    public static async ValueTask<bool> ReadDocumentsAsync(
        AnswerScope scope,
        IndexAnswer indexAnswer,
        Func<QueryWalk, bool> isLast
    )
    {
        var (slices, sink) = (scope.Slices, scope.Sink);
        using var walk = new QueryWalk(scope.Reader, new FoundIds(indexAnswer.Documents), scores: null)
        {
            Interrupts = () => slices.IsSliceOver,
        };
        bool hasStopped = false;
        slices.StartClock();
        while (!hasStopped && await walk.MoveNextAsync(slices))
        {
            long bytes = scope.Writer.BytesFor(walk.Length);
            if (!sink.TryReserve(bytes))
            {
                walk.StepBack();
                slices.StopClock();
                await sink.WaitForMemoryAsync(bytes);
                slices.StartClock();
                continue;
            }

            hasStopped = isLast(walk);
            if (slices.IsSliceOver)
            {
                walk.Pause();
                await slices.YieldAsync();
            }
        }

        slices.StopClock();
        return hasStopped;
    }

    /// <summary>Reads the reduced rows.</summary>
    /// <param name="indexAnswer">The answer of the index.</param>
    /// <param name="slices">Limits the query's working time.</param>
    /// <param name="isLast">Reads a row; returns true if it is the last to read.</param>
    /// <returns>Whether the callback ended the reading.</returns>
    public static async ValueTask<bool> ReadRowsAsync(
        IndexAnswer indexAnswer,
        QueryTimeSlices slices,
        Func<byte[][], bool> isLast
    )
    {
        bool hasStopped = false;
        slices.StartClock();
        for (int i = 0; i < indexAnswer.Documents.Count && !hasStopped; i++)
        {
            if (slices.IsSliceOver)
            {
                await slices.YieldAsync();
            }

            hasStopped = isLast([indexAnswer.ReadRow(i).ToArray()]);
        }

        slices.StopClock();
        return hasStopped;
    }
}
