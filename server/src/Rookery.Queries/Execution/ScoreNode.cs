using Rookery.Queries.Conditions;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Computes the scores of one segment's entries for a condition. They equal the scores that
/// <see cref="Conditions.Predicate.TryScore"/> computes from documents. Called with ascending entries. Not thread-safe.
/// </summary>
internal abstract class ScoreNode
{
    /// <summary>Computes the score of an entry.</summary>
    /// <param name="entry">The entry; not less than in any earlier call.</param>
    /// <param name="score">The score; 0 if the entry does not match.</param>
    /// <returns>Whether the entry matches.</returns>
    public abstract bool TryScore(int entry, out double score);

    /// <summary>Returns an upper bound of the scores of consecutive entries. Cheaper than scoring.</summary>
    /// <param name="entry">The first of the entries; not less than in any earlier call.</param>
    /// <param name="last">Receives the last of the entries.</param>
    public abstract double UpperBound(int entry, out int last);
}

/// <summary>Scores 1 for each entry of a cursor.</summary>
internal sealed class PlainScore(EntryCursor cursor) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        bool matches = cursor.Advance(entry) == entry;
        score = matches ? 1 : 0;
        return matches;
    }

    /// <inheritdoc/>
    public override double UpperBound(int entry, out int last)
    {
        last = EntryCursor.End;
        return 1;
    }
}

/// <summary>Scores 0 for each entry that does not match the inner condition.</summary>
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
    public override double UpperBound(int entry, out int last)
    {
        last = EntryCursor.End;
        return 0;
    }
}

/// <summary>Matches every entry, and adds the inner score where the inner condition matches.</summary>
internal sealed class OptionalScore(ScoreNode inner) : ScoreNode
{
    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        inner.TryScore(entry, out score);
        return true;
    }

    /// <inheritdoc/>
    public override double UpperBound(int entry, out int last) => inner.UpperBound(entry, out last);
}

/// <summary>Multiplies the inner score.</summary>
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
    public override double UpperBound(int entry, out int last) =>
        BoostPredicate.Multiply(inner.UpperBound(entry, out last), factor);
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
            if (node.TryScore(entry, out double own))
            {
                score += own;
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
    public override double UpperBound(int entry, out int last)
    {
        double bound = 0;
        last = EntryCursor.End;
        foreach (var node in inner)
        {
            bound += node.UpperBound(entry, out int lastOfNode);
            last = Math.Min(last, lastOfNode);
        }

        return bound;
    }
}
