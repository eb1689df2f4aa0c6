using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// The relevance of entries to a search. Blocks of postings say beforehand what none of theirs can count for more than.
/// </summary>
/// <param name="scorer">Knows all documents of the index.</param>
/// <param name="lengths">By entry, words of the field; null when no entry has any.</param>
/// <param name="clauses">The entries of each clause, in its order.</param>
/// <param name="needsAll">Whether each clause must be found.</param>
internal sealed class SearchScore(SearchScorer scorer, PackedColumn? lengths, EntryCursor[] clauses, bool needsAll)
    : ScoreNode
{
    // More often than anything stands in a text: what counts has an end.
    private const int OftenEnough = 1 << 24;

    // The others go along with what is asked for; this one would have to decode too much.
    private readonly EntryCursor? _commonest = clauses.MaxBy(static clause => clause.Cost);

    /// <inheritdoc/>
    public override bool TryScore(int entry, out double score)
    {
        score = 0;
        int found = 0;
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

            length = found++ == 0 && lengths is not null ? (int)lengths[entry] : length;
            int frequency = clauses[i] switch
            {
                PostingsCursor postings => postings.Frequency,
                PhraseCursor phrase => phrase.Frequency,
                _ => 1,
            };
            score += scorer.Score(i, frequency, length);
        }

        return found > 0;
    }

    /// <inheritdoc/>
    public override double Most(int entry, out int last)
    {
        double most = 0;
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
                most += scorer.Score(i, impact.MostOften, impact.Shortest);
                last = Math.Min(last, clause == _commonest ? lastOfBlock : entry);
            }
            else
            {
                most += scorer.Score(i, OftenEnough, 1);
            }
        }

        return most;
    }
}
