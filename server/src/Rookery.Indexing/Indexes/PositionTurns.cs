using Rookery.Indexing.Scheduling;

namespace Rookery.Indexing.Indexes;

/// <summary>Chooses the position whose indexes are fed next. Not thread-safe.</summary>
/// <param name="documentsPerStep">Documents that a step reads.</param>
internal sealed class PositionTurns(int documentsPerStep)
{
    // An index within this many steps of the last etag counts as nearly up to date.
    private const int NearSteps = 8;

    /// <summary>
    /// Awaited indexes and those of the highest priority get this many turns for each turn of the rest, so the rest
    /// always advances.
    /// </summary>
    public const int PreferredWeight = 3;

    /// <summary>The turns of the other indexes.</summary>
    public const int RestWeight = 1;

    /// <summary>The turn of the indexes of the highest priority. All other indexes share another turn.</summary>
    public const int HighestTurn = 0;
    private const int RestTurn = 1;
    private readonly WeightedTurns _priorityTurns = new(kinds: 2);

    // Next takes turns among three positions: the lowest of the awaited indexes; the highest of all indexes, if it is
    // nearly up to date; and the lowest of all indexes. Each priority class has its own turns.
    private const int AwaitedTurn = 0;
    private const int NearlyThereTurn = 1;
    private readonly WeightedTurns _positionTurns = new(kinds: 3);
    private readonly WeightedTurns _positionTurnsOfRest = new(kinds: 3);

    /// <summary>
    /// Returns the etag after which the next pass reads; null if all indexes are up to date. The passes take turns: one
    /// serves the awaited indexes, one those nearly up to date, one those that lag most. Each prefers the indexes of
    /// the highest priority.
    /// </summary>
    public long? Next(IReadOnlyList<RunningIndex> indexes, long last)
    {
        const long None = long.MaxValue;
        long lowest = None;
        long highest = -1;
        long lowestAwaited = None;
        int highestRank = HighestRank(indexes, last);
        int weightOfRest = IsAnyLaggingBelow(indexes, highestRank, last) ? RestWeight : 0;
        bool isTurnOfRest = _priorityTurns.Next([PreferredWeight, weightOfRest]) == RestTurn;
        foreach (var index in indexes)
        {
            bool isOfTurn = isTurnOfRest ? index.Rank < highestRank : index.Rank >= highestRank || index.IsAwaited;
            if (isOfTurn && IsLagging(index, last))
            {
                lowest = Math.Min(lowest, index.Position);
                highest = Math.Max(highest, index.Position);
                lowestAwaited = index.IsAwaited ? Math.Min(lowestAwaited, index.Position) : lowestAwaited;
            }
        }

        if (lowest == None)
        {
            return null;
        }

        bool isAwaited = lowestAwaited != None;
        bool isNearlyThere = last - highest <= (long)NearSteps * documentsPerStep;

        // Each priority class has its own turns. With shared turns, the turns of the classes and those of the
        // positions could have the same period, and the low-priority index that lags most would never be fed.
        var turns = isTurnOfRest ? _positionTurnsOfRest : _positionTurns;
        int turn = turns.Next([
            isAwaited ? PreferredWeight : 0,
            isNearlyThere && !isAwaited ? RestWeight : 0,
            RestWeight,
        ]);
        return turn switch
        {
            AwaitedTurn => lowestAwaited,
            NearlyThereTurn => highest,
            _ => lowest,
        };
    }

    // An index whose pass was interrupted needs another pass, even if no operation followed.
    private static bool IsLagging(RunningIndex index, long last) =>
        index.Position > 0 && (index.Position < last || !index.IsConsistent) && IndexFeeder.IsFollowing(index);

    private static bool IsAnyLaggingBelow(IReadOnlyList<RunningIndex> indexes, int rank, long last)
    {
        foreach (var index in indexes)
        {
            if (index.Rank < rank && IsLagging(index, last))
            {
                return true;
            }
        }

        return false;
    }

    private static int HighestRank(IReadOnlyList<RunningIndex> indexes, long last)
    {
        int highest = 0;
        foreach (var index in indexes)
        {
            highest = IsLagging(index, last) ? Math.Max(highest, index.Rank) : highest;
        }

        return highest;
    }
}
