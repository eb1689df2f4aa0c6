using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// Computes the score of documents for one search: the sum of the scores of all matching clauses. Immutable.
/// </summary>
public sealed class SearchScorer
{
    private readonly double _averageLength;

    // For each clause, the rarity of its words. NaN for a pattern, which scores 1.
    private readonly double[] _rarities;

    /// <summary>Creates a scorer.</summary>
    /// <param name="query">The search.</param>
    /// <param name="statistics">The statistics of all documents.</param>
    /// <param name="averageLength">The average length of a text; null for that of
    /// <paramref name="statistics"/>.</param>
    public SearchScorer(SearchQuery query, SearchStatistics statistics, double? averageLength = null)
    {
        _averageLength = averageLength ?? statistics.AverageLength;
        _rarities =
        [
            .. query.Clauses.Select(clause =>
                clause switch
                {
                    TermClause term => Rarity(term.Term),
                    // The rarity of a phrase is the sum of its words' rarities.
                    PhraseClause phrase => phrase.Words.Select(static word => word.Term).Distinct().Sum(Rarity),
                    _ => double.NaN,
                }
            ),
        ];

        double Rarity(int term) =>
            Bm25.InverseDocumentFrequency(statistics.Documents, statistics.DocumentFrequency(term));
    }

    /// <summary>Returns the part of a document's score that one clause contributes.</summary>
    /// <param name="clause">Its position in <see cref="SearchQuery.Clauses"/>.</param>
    /// <param name="frequency">Occurrences of the clause in the document; inexact ones of a phrase count less than
    /// 1.</param>
    /// <param name="length">Number of tokens of the field in the document.</param>
    public double Score(int clause, double frequency, int length)
    {
        if (frequency == 0)
        {
            return 0;
        }

        double rarity = _rarities[clause];
        return double.IsNaN(rarity) ? 1 : rarity * Bm25.Weight(frequency, length, _averageLength);
    }

    /// <summary>Returns the score of the document that a matcher has read.</summary>
    /// <param name="matcher">The matcher.</param>
    public double Score(SearchMatcher matcher)
    {
        double score = 0;
        var frequencies = matcher.ClauseFrequencies;
        for (int clause = 0; clause < frequencies.Length; clause++)
        {
            score += Score(clause, frequencies[clause], matcher.Length);
        }

        return score;
    }
}
