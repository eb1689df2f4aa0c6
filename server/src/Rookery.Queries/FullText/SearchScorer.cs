using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// The relevance of documents to one search: the sum over the clauses that a document satisfies. Immutable.
/// </summary>
public sealed class SearchScorer
{
    private readonly double _averageLength;
    private readonly double[] _rarities;

    /// <summary>A scorer.</summary>
    /// <param name="query">What is searched for.</param>
    /// <param name="statistics">Of all documents.</param>
    public SearchScorer(SearchQuery query, SearchStatistics statistics)
    {
        _averageLength = statistics.AverageLength;
        _rarities =
        [
            .. query.Clauses.Select(clause =>
                clause switch
                {
                    TermClause term => Rarity(term.Term),
                    // A phrase is as rare as its words together.
                    PhraseClause phrase => phrase.Words.Select(static word => word.Term).Distinct().Sum(Rarity),
                    _ => double.NaN,
                }
            ),
        ];

        double Rarity(int term) =>
            Bm25.InverseDocumentFrequency(statistics.Documents, statistics.DocumentFrequency(term));
    }

    /// <summary>What one clause adds to a document's score.</summary>
    /// <param name="clause">Its place among <see cref="SearchQuery.Clauses"/>.</param>
    /// <param name="frequency">How often the document satisfies it.</param>
    /// <param name="length">Tokens of the document's field.</param>
    public double Score(int clause, int frequency, int length)
    {
        if (frequency is 0)
        {
            return 0;
        }

        double rarity = _rarities[clause];
        return double.IsNaN(rarity) ? 1 : rarity * Bm25.Weight(frequency, length, _averageLength);
    }

    /// <summary>A document's score.</summary>
    /// <param name="matcher">Has read it.</param>
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
