using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>Evaluates <c>search</c> and <c>proximity</c> for a document.</summary>
/// <param name="query">The search.</param>
/// <param name="reader">Reads the texts.</param>
/// <param name="text">Buffer for a text.</param>
internal sealed class SearchedField(SearchQuery query, FieldReader reader, SearchableText text)
    : IDocumentCondition,
        IDisposable
{
    /// <summary>The search.</summary>
    internal SearchQuery Query => query;

    /// <summary>Reads the texts.</summary>
    internal FieldReader Reader => reader;

    private readonly SearchMatcher _matcher = new(query);
    private SearchStatistics _statistics = new(query);
    private SearchScorer? _scorer;
    private bool _areOfIndex;

    /// <summary>Scores documents. Created on first use, from the statistics at that time.</summary>
    internal SearchScorer Scorer => _scorer ??= new SearchScorer(query, _statistics);

    /// <summary>Uses an index's word statistics instead of counting documents.</summary>
    internal void UseStatistics(SearchStatistics statistics) =>
        (_statistics, _scorer, _areOfIndex) = (statistics, new SearchScorer(query, statistics), true);

    /// <summary>
    /// Whether scores depend on word statistics. False if all clauses are patterns, because a pattern scores 1.
    /// </summary>
    internal bool NeedsWordCount => query.Terms.Count > 0;

    /// <inheritdoc/>
    public bool Matches(in QueriedDocument document, ScanWork work)
    {
        _matcher.Begin(work);
        var visitor = new Visitor(_matcher, text);
        reader.Read(document, ref visitor);
        return _matcher.End();
    }

    /// <inheritdoc/>
    public bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        bool matches = Matches(document, work);
        score = matches ? Scorer.Score(_matcher) : 0;
        return matches;
    }

    /// <summary>
    /// Adds a document to the word statistics, whether it matches or not. Drops statistics of an index: a search uses
    /// them before it reads the entries, and a scan answers if the index turns out to be damaged then.
    /// </summary>
    internal void Count(in QueriedDocument document, ScanWork work)
    {
        if (_areOfIndex)
        {
            (_statistics, _scorer, _areOfIndex) = (new SearchStatistics(query), null, false);
        }

        Invariant.Holds(_scorer is null, "all documents are counted before one is scored");
        Matches(document, work);
        _statistics.Count(_matcher);
    }

    /// <summary>Returns the score that each matching clause contributes, with an explanation.</summary>
    internal IEnumerable<(double Score, string Why)> Explain(in QueriedDocument document, ScanWork work)
    {
        Matches(document, work);
        int length = _matcher.Length;
        double[] frequencies = _matcher.ClauseFrequencies.ToArray();
        return query
            .Clauses.Index()
            .Where(clause => frequencies[clause.Index] > 0)
            .Select(clause =>
                (
                    Scorer.Score(clause.Index, frequencies[clause.Index], length),
                    Describe(clause.Item, frequencies[clause.Index], length)
                )
            );
    }

    private string Describe(SearchClause clause, double frequency, int length) =>
        clause switch
        {
            TermClause term => string.Create(
                CultureInfo.InvariantCulture,
                $"'{Word(term.Term)}' {frequency} times in {length} words ({_statistics.AverageLength:0.##} "
                    + $"on average); {_statistics.DocumentFrequency(term.Term)} of {_statistics.Documents} have it"
            ),
            PhraseClause phrase => string.Create(
                CultureInfo.InvariantCulture,
                $"the phrase '{string.Join(' ', phrase.Words.Select(word => Word(word.Term)))}' {frequency:0.##} "
                    + $"times in {length} words ({_statistics.AverageLength:0.##} on average)"
            ),
            _ => "a pattern",
        };

    private string Word(int term) => Encoding.UTF8.GetString(query.Terms[term]);

    /// <inheritdoc/>
    public void Dispose() => _matcher.Dispose();

    private readonly struct Visitor(SearchMatcher matcher, SearchableText text) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            matcher.Add(text.Of(json));
            return true;
        }
    }
}
