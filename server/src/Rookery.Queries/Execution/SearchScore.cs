using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// Scores entries for a full-text search. Each block of postings stores its impacts, from which upper bounds are
/// computed without decoding the block.
/// </summary>
/// <param name="scorer">Scores by the statistics of the whole index.</param>
/// <param name="lengths">Number of words of the field, by entry; null if no entry has any.</param>
/// <param name="clauses">The entries of each clause, in the order of the clauses.</param>
/// <param name="needsAll">Whether every clause must match.</param>
internal sealed class SearchScore(SearchScorer scorer, PackedColumn? lengths, EntryCursor[] clauses, bool needsAll)
    : ScoreNode
{
    // Greater than any frequency in a text. The score grows towards a limit, so this frequency gives an upper bound.
    private const int BoundingFrequency = 1 << 24;

    // Only the clause with the most entries is bounded by its blocks' impacts. The other clauses have few entries, so
    // advancing them to the entry is cheap.
    private readonly EntryCursor? _commonest = clauses.MaxBy(static clause => clause.Cost);

    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        score = 0;
        int matchingClauses = 0;
        int length = 0;
        for (int i = 0; i < clauses.Length; i++)
        {
            if (clauses[i].Advance(entry) != entry)
            {
                if (needsAll)
                {
                    score = 0;
                    return false;
                }

                continue;
            }

            if (matchingClauses == 0 && lengths is not null)
            {
                length = (int)lengths[entry];
            }

            matchingClauses++;
            double frequency = clauses[i] switch
            {
                PostingsCursor postings => postings.Frequency,
                PhraseCursor phrase => phrase.Frequency,
                _ => 1,
            };
            score += scorer.Score(i, frequency, length);
        }

        return matchingClauses > 0;
    }

    /// <inheritdoc/>
    public override double ComputeUpperBound(int entry, out int last)
    {
        double bound = 0;
        last = EntryCursor.End;
        for (int i = 0; i < clauses.Length; i++)
        {
            var clause = clauses[i];
            if (clause is PostingsCursor && clause != _commonest)
            {
                clause.Advance(entry);
            }

            if (clause.Current > entry)
            {
                last = Math.Min(last, clause.Current - 1);
            }
            else if (clause is PostingsCursor postings)
            {
                var impact = postings.ImpactAt(entry, out int lastOfBlock);
                bound += scorer.Score(i, impact.MaxFrequency, impact.MinLength);
                last = Math.Min(last, clause == _commonest ? lastOfBlock : entry);
            }
            else
            {
                bound += scorer.Score(i, BoundingFrequency, length: 1);
            }
        }

        return bound;
    }
}
