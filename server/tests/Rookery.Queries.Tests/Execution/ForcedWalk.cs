using Rookery.Queries.Execution;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// Forces the walk over the terms of an order, whatever its cost. The walk gives up after a number of entries.
/// </summary>
internal sealed class ForcedWalk(long maxSteps) : OrderWalk
{
    /// <summary>Number of walks started.</summary>
    public int Started { get; private set; }

    /// <summary>Number of walks that found all wanted matches.</summary>
    public int Completed { get; private set; }

    /// <summary>Number of completed walks in a segment with dead (deleted or replaced) entries.</summary>
    public int CompletedAmongDead { get; private set; }

    /// <summary>
    /// Returns a walk without a limit, one that gives up after fewer than 20 entries, or null: the cost decides.
    /// </summary>
    public static ForcedWalk? Any(Random random) =>
        random.Next(4) switch
        {
            0 => null,
            1 => new ForcedWalk(random.Next(20)),
            _ => new ForcedWalk(long.MaxValue),
        };

    public override bool IsWorthwhile(long wanted, int entries, EntryCursor candidates) => true;

    public override long MaxSteps(EntryCursor candidates)
    {
        Started++;
        return maxSteps;
    }

    public override void OnPageFound(int dead)
    {
        Completed++;
        CompletedAmongDead += dead > 0 ? 1 : 0;
    }
}

/// <summary>Never walks: all matches are read.</summary>
internal sealed class NoWalk : OrderWalk
{
    public override bool IsWorthwhile(long wanted, int entries, EntryCursor candidates) => false;

    public override long MaxSteps(EntryCursor candidates) =>
        throw new InvalidOperationException("No walk was started.");
}

/// <summary>Keeps the matches of each term in order, however few they are.</summary>
internal sealed class ForcedSort : OrderWalk
{
    /// <summary>Number of segments whose part of a page was found from matches in order.</summary>
    public int Found { get; private set; }

    public override bool IsWorthwhile(long wanted, int entries, EntryCursor candidates) => false;

    public override long MaxSteps(EntryCursor candidates) =>
        throw new InvalidOperationException("No walk was started.");

    public override bool IsWorthSorting(long matches) => matches > 0;

    public override void OnSortedFound() => Found++;
}
