using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// How relevant the entries of one segment are to a condition: the same numbers as
/// <see cref="Conditions.Predicate.TryScore"/> gives of documents. Asked with ascending entries, by one thread.
/// </summary>
internal abstract class ScoreNode
{
    /// <summary>How relevant an entry is.</summary>
    /// <param name="entry">Not below any that was asked for before.</param>
    /// <param name="score">0 when the condition does not hold of it.</param>
    /// <returns>Whether the condition holds of it.</returns>
    public abstract bool TryScore(int entry, out double score);

    /// <summary>What no entry of a run is more relevant than. Costs less than to score.</summary>
    /// <param name="entry">The first of the run; not below any that was asked for before.</param>
    /// <param name="last">The last of the run.</param>
    public abstract double Most(int entry, out int last);
}

/// <summary>Each entry of a cursor counts 1.</summary>
internal sealed class PlainScore(EntryCursor cursor) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool holds = cursor.Advance(entry) == entry;
        score = holds ? 1 : 0;
        return holds;
    }

    /// <inheritdoc/>
    public override double Most(int entry, out int last)
    {
        last = EntryCursor.End;
        return 1;
    }
}

/// <summary>What does not hold says nothing for an entry.</summary>
internal sealed class NotScore(ScoreNode inner) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool holds = !inner.TryScore(entry, out _);
        score = 0;
        return holds;
    }

    /// <inheritdoc/>
    public override double Most(int entry, out int last)
    {
        last = EntryCursor.End;
        return 0;
    }
}

/// <summary>Counts where it holds, and need not.</summary>
internal sealed class OptionalScore(ScoreNode inner) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        inner.TryScore(entry, out score);
        return true;
    }

    /// <inheritdoc/>
    public override double Most(int entry, out int last) => inner.Most(entry, out last);
}

/// <summary>Counts so many times.</summary>
internal sealed class BoostScore(ScoreNode inner, double factor) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool holds = inner.TryScore(entry, out score);
        score *= factor;
        return holds;
    }

    /// <inheritdoc/>
    public override double Most(int entry, out int last) => inner.Most(entry, out last) * factor;
}

/// <summary>The sum of several that all hold, or of those that do.</summary>
internal sealed class SumScore(ScoreNode[] inner, bool needsAll) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        score = 0;
        bool holds = needsAll;
        foreach (var node in inner)
        {
            if (node.TryScore(entry, out double own))
            {
                score += own;
                holds = true;
            }
            else if (needsAll)
            {
                score = 0;
                return false;
            }
        }

        return holds;
    }

    /// <inheritdoc/>
    public override double Most(int entry, out int last)
    {
        double most = 0;
        last = EntryCursor.End;
        foreach (var node in inner)
        {
            most += node.Most(entry, out int lastOfNode);
            last = Math.Min(last, lastOfNode);
        }

        return most;
    }
}
