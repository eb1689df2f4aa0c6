using Rookery.Queries.Conditions;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Computes the scores of one segment's entries for a condition. The scores equal those that
/// <see cref="Conditions.Predicate.TryScore"/> computes from documents. The caller passes entries in ascending order,
/// and may pass the same entry to both methods. Not thread-safe.
/// </summary>
internal abstract class ScoreNode
{
    /// <summary>Computes the score of an entry.</summary>
    /// <param name="entry">The entry; not less than in any earlier call.</param>
    /// <param name="score">The score, 0 or more; 0 if the entry does not match.</param>
    /// <returns>Whether the entry matches.</returns>
    public abstract bool TryScore(int entry, out double score);

    /// <summary>
    /// Returns a number that no score of the entries from <paramref name="entry"/> through <paramref name="last"/>
    /// exceeds. Scores no entry, so it costs less than <see cref="TryScore"/>.
    /// </summary>
    /// <param name="entry">The first entry of the range; not less than in any earlier call.</param>
    /// <param name="last">Receives the last entry of the range; <see cref="EntryCursor.End"/> if the bound holds for
    /// all later entries.</param>
    public abstract double ComputeUpperBound(int entry, out int last);
}

/// <summary>Scores 1 for each entry of a cursor.</summary>
internal sealed class ConstantScore(EntryCursor cursor) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool matches = cursor.Advance(entry) == entry;
        score = matches ? 1 : 0;
        return matches;
    }

    /// <inheritdoc/>
    public override double ComputeUpperBound(int entry, out int last)
    {
        last = EntryCursor.End;
        return 1;
    }
}

/// <summary>Matches, with score 0, each entry that the inner condition does not match.</summary>
internal sealed class NotScore(ScoreNode inner) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool matches = !inner.TryScore(entry, out _);
        score = 0;
        return matches;
    }

    /// <inheritdoc/>
    public override double ComputeUpperBound(int entry, out int last)
    {
        last = EntryCursor.End;
        return 0;
    }
}

/// <summary>Matches every entry. The score is that of the inner condition, or 0 if it does not match.</summary>
internal sealed class OptionalScore(ScoreNode inner) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        inner.TryScore(entry, out score);
        return true;
    }

    /// <inheritdoc/>
    public override double ComputeUpperBound(int entry, out int last) => inner.ComputeUpperBound(entry, out last);
}

/// <summary>Multiplies the inner score by a factor of 0 or more.</summary>
internal sealed class BoostScore(ScoreNode inner, double factor) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool matches = inner.TryScore(entry, out score);
        score = BoostPredicate.Multiply(score, factor);
        return matches;
    }

    /// <inheritdoc/>
    public override double ComputeUpperBound(int entry, out int last) =>
        BoostPredicate.Multiply(inner.ComputeUpperBound(entry, out last), factor);
}

/// <summary>Adds the scores of several conditions. Either all of them or at least one must match.</summary>
internal sealed class SumScore(ScoreNode[] inner, bool needsAll) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        score = 0;
        bool matches = needsAll;
        foreach (var node in inner)
        {
            if (node.TryScore(entry, out double nodeScore))
            {
                score += nodeScore;
                matches = true;
            }
            else if (needsAll)
            {
                score = 0;
                return false;
            }
        }

        return matches;
    }

    /// <inheritdoc/>
    public override double ComputeUpperBound(int entry, out int last)
    {
        double bound = 0;
        last = EntryCursor.End;
        foreach (var node in inner)
        {
            bound += node.ComputeUpperBound(entry, out int lastOfNode);
            last = Math.Min(last, lastOfNode);
        }

        return bound;
    }
}
