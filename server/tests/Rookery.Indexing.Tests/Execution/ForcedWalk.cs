using Rookery.Queries.Execution;
using Rookery.Search.Segments.Postings;

namespace Rookery.Indexing.Tests.Execution;

/// <summary>Walks over the terms of an order whatever that costs, and gives up after some entries.</summary>
internal sealed class ForcedWalk(long mostSteps) : OrderWalk
{
    /// <summary>How many walks were begun.</summary>
    public int Begun { get; private set; }

    /// <summary>How many found all that was wanted.</summary>
    public int Completed { get; private set; }

    /// <summary>How many of them in a segment that had dead entries.</summary>
    public int CompletedAmongDead { get; private set; }

    /// <summary>To the end, up to some entry, or as costs say.</summary>
    public static ForcedWalk? Any(Random random) =>
        random.Next(4) switch
        {
            0 => null,
            1 => new ForcedWalk(random.Next(20)),
            _ => new ForcedWalk(long.MaxValue),
        };

    public override bool Pays(long wanted, int entries, EntryCursor candidates) => true;

    public override long MostSteps(EntryCursor candidates)
    {
        Begun++;
        return mostSteps;
    }

    public override void Ended(int dead)
    {
        Completed++;
        CompletedAmongDead += dead > 0 ? 1 : 0;
    }
}

/// <summary>Looks at all matches.</summary>
internal sealed class NoWalk : OrderWalk
{
    public override bool Pays(long wanted, int entries, EntryCursor candidates) => false;

    public override long MostSteps(EntryCursor candidates) => throw new InvalidOperationException("Nobody walks.");
}
