using Rookery.Queries.Execution;

namespace Rookery.Queries.Answering;

/// <summary>
/// Looks at what an index found, one after the other, until a callback has seen enough. Others have their turns
/// meanwhile.
/// </summary>
internal static class FoundResults
{
    /// <summary>Looks at the documents, when there is room for each.</summary>
    /// <param name="scope">What the answer is made with.</param>
    /// <param name="found">Which.</param>
    /// <param name="isEnough">Looks at the document at hand, and tells whether no other has to be looked at.</param>
    /// <returns>Whether one was enough.</returns>
    public static async ValueTask<bool> LookAtDocumentsAsync(
        AnswerScope scope,
        IndexAnswer found,
        Func<QueryWalk, bool> isEnough
    )
    {
        var (turns, sink) = (scope.Turns, scope.Sink);
        using var walk = new QueryWalk(scope.Reader, new FoundIds(found.Documents), scores: null);
        bool isFound = false;
        turns.Begin();
        while (!isFound && walk.MoveNext())
        {
            long bytes = scope.Writer.BytesFor(walk.Length);
            if (!sink.TryMakeRoom(bytes))
            {
                walk.StepBack();
                turns.End();
                await sink.WaitForRoomAsync(bytes);
                turns.Begin();
                continue;
            }

            isFound = isEnough(walk);
            if (turns.IsOver)
            {
                walk.Pause();
                await turns.YieldAsync();
            }
        }

        turns.End();
        return isFound;
    }

    /// <summary>Looks at the reduced rows.</summary>
    /// <param name="found">Which.</param>
    /// <param name="turns">The time of the query.</param>
    /// <param name="isEnough">Looks at a row, and tells whether no other has to be looked at.</param>
    /// <returns>Whether one was enough.</returns>
    public static async ValueTask<bool> LookAtRowsAsync(
        IndexAnswer found,
        QueryTurns turns,
        Func<byte[][], bool> isEnough
    )
    {
        bool isFound = false;
        turns.Begin();
        for (int i = 0; i < found.Documents.Count && !isFound; i++)
        {
            if (turns.IsOver)
            {
                await turns.YieldAsync();
            }

            isFound = isEnough([found.ReadRow(i).ToArray()]);
        }

        turns.End();
        return isFound;
    }
}
