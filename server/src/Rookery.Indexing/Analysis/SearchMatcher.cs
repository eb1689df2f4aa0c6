using Rookery.Indexing.Scanning;

namespace Rookery.Indexing.Analysis;

/// <summary>
/// Compares the texts of a field, one document after another, with a search: the scan's full-text search. For one thread. A scan that scores runs it twice: first every document is
/// counted (<see cref="SearchStatistics.Count"/>), then those that match are scored (<see cref="SearchScorer.Score(SearchMatcher)"/>).
/// </summary>
public sealed class SearchMatcher : IDisposable
{
    private readonly SearchQuery query;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> places;
    private readonly int[] termFrequencies;
    private readonly int[] clauseFrequencies;
    private readonly PositionList?[] positions;
    private readonly (int Clause, TokenPattern Pattern)[] patterns;
    private readonly PhraseWord[] phrase;
    private int nextPosition;
    private ScanWork? work;

    /// <summary>A matcher that has read nothing.</summary>
    public SearchMatcher(SearchQuery query)
    {
        this.query = query;
        var terms = new Dictionary<byte[], int>(TermComparer.Instance);
        foreach (byte[] term in query.Terms)
        {
            terms.Add(term, terms.Count);
        }

        places = terms.GetAlternateLookup<ReadOnlySpan<byte>>();
        termFrequencies = new int[query.Terms.Count];
        clauseFrequencies = new int[query.Clauses.Count];
        positions = new PositionList?[query.Terms.Count];
        var phrases = query.Clauses.OfType<PhraseClause>();
        foreach (var word in phrases.SelectMany(static clause => clause.Words))
        {
            positions[word.Term] ??= new PositionList();
        }

        phrase = new PhraseWord[phrases.Select(static clause => clause.Words.Count).DefaultIfEmpty().Max()];
        patterns = [.. query.Clauses.Index().Where(static clause => clause.Item is WildcardClause).Select(static clause => (clause.Index, ((WildcardClause)clause.Item).Pattern))];
    }

    /// <summary>Whether the document that was read satisfies the search.</summary>
    public bool IsMatch { get; private set; }

    /// <summary>Tokens of the document that was read.</summary>
    public int Length { get; private set; }

    /// <summary>How often it has each of <see cref="SearchQuery.Terms"/>.</summary>
    public ReadOnlySpan<int> TermFrequencies => termFrequencies;

    /// <summary>How often it satisfies each of <see cref="SearchQuery.Clauses"/>; of a pattern, whether.</summary>
    public ReadOnlySpan<int> ClauseFrequencies => clauseFrequencies;

    /// <summary>Forgets the document before.</summary>
    /// <param name="counter">Counts the work on the next one; null where nobody waits for it.</param>
    public void Begin(ScanWork? counter = null)
    {
        work = counter;
        Array.Clear(termFrequencies);
        Array.Clear(clauseFrequencies);
        foreach (var list in positions)
        {
            list?.Clear();
        }

        (IsMatch, Length, nextPosition) = (false, 0, 0);
    }

    /// <summary>Reads a value of the field; of an array, each element.</summary>
    /// <param name="text">UTF-8.</param>
    public void Add(ReadOnlySpan<byte> text)
    {
        var sink = new Sink(this);
        nextPosition = query.Analyzer.Analyze(text, AnalysisPurpose.Index, nextPosition, ref sink) + Analyzer.ValueGap;
    }

    /// <summary>Decides, after the last value.</summary>
    /// <returns><see cref="IsMatch"/>.</returns>
    public bool End()
    {
        int satisfied = 0;
        for (int clause = 0; clause < clauseFrequencies.Length; clause++)
        {
            switch (query.Clauses[clause])
            {
                case TermClause term:
                    clauseFrequencies[clause] = termFrequencies[term.Term];
                    break;
                case PhraseClause words:
                    clauseFrequencies[clause] = CountPhrase(words);
                    break;
                default:
                    break;
            }

            satisfied += clauseFrequencies[clause] > 0 ? 1 : 0;
        }

        IsMatch = satisfied > 0 && (!query.NeedsAll || satisfied == clauseFrequencies.Length);
        return IsMatch;
    }

    /// <summary>Gives pooled memory back.</summary>
    public void Dispose()
    {
        foreach (var list in positions)
        {
            list?.Dispose();
        }
    }

    private int CountPhrase(PhraseClause clause)
    {
        for (int place = 0; place < clause.Words.Count; place++)
        {
            var word = clause.Words[place];
            if (termFrequencies[word.Term] is 0)
            {
                return 0;
            }

            phrase[place] = new PhraseWord(positions[word.Term]!.Positions, word.Offset, word.Term);
        }

        return PhraseMatcher.Count(phrase.AsSpan(0, clause.Words.Count), clause.Slop);
    }

    private void Take(scoped in Token token)
    {
        Length++;
        work?.Walk(token.Bytes.Length);
        if (places.TryGetValue(token.Bytes, out int place))
        {
            termFrequencies[place]++;
            positions[place]?.Add(token.Position);
        }

        foreach (var (clause, pattern) in patterns)
        {
            if (clauseFrequencies[clause] is 0 && pattern.Matches(token.Bytes, work))
            {
                clauseFrequencies[clause] = 1;
            }
        }
    }

    private readonly struct Sink(SearchMatcher matcher) : ITokenSink
    {
        public bool Take(scoped in Token token)
        {
            matcher.Take(token);
            return true;
        }
    }
}
