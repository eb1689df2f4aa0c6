using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// Compares the texts of a field, one document after another, with a search: the scan's full-text search. For one
/// thread. A scan that scores runs it twice: first every document is counted (<see cref="SearchStatistics.Count"/>),
/// then those that match are scored (<see cref="SearchScorer.Score(SearchMatcher)"/>).
/// </summary>
public sealed class SearchMatcher : IDisposable
{
    private readonly SearchQuery _query;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> _places;
    private readonly int[] _termFrequencies;
    private readonly int[] _clauseFrequencies;
    private readonly PositionList?[] _positions;
    private readonly (int Clause, TokenPattern Pattern)[] _patterns;
    private readonly PhraseWord[] _phrase;
    private int _nextPosition;
    private ScanWork? _work;

    /// <summary>A matcher that has read nothing.</summary>
    public SearchMatcher(SearchQuery query)
    {
        _query = query;
        var terms = new Dictionary<byte[], int>(BytesComparer.Instance);
        foreach (byte[] term in query.Terms)
        {
            terms.Add(term, terms.Count);
        }

        _places = terms.GetAlternateLookup<ReadOnlySpan<byte>>();
        _termFrequencies = new int[query.Terms.Count];
        _clauseFrequencies = new int[query.Clauses.Count];
        _positions = new PositionList?[query.Terms.Count];
        var phrases = query.Clauses.OfType<PhraseClause>();
        foreach (var word in phrases.SelectMany(static clause => clause.Words))
        {
            _positions[word.Term] ??= new PositionList();
        }

        _phrase = new PhraseWord[phrases.Select(static clause => clause.Words.Count).DefaultIfEmpty().Max()];
        _patterns =
        [
            .. query
                .Clauses.Index()
                .Where(static clause => clause.Item is WildcardClause)
                .Select(static clause => (clause.Index, ((WildcardClause)clause.Item).Pattern)),
        ];
    }

    /// <summary>Whether the document that was read satisfies the search.</summary>
    public bool IsMatch { get; private set; }

    /// <summary>Tokens of the document that was read.</summary>
    public int Length { get; private set; }

    /// <summary>How often it has each of <see cref="SearchQuery.Terms"/>.</summary>
    public ReadOnlySpan<int> TermFrequencies => _termFrequencies;

    /// <summary>How often it satisfies each of <see cref="SearchQuery.Clauses"/>; of a pattern, whether.</summary>
    public ReadOnlySpan<int> ClauseFrequencies => _clauseFrequencies;

    /// <summary>Forgets the document before.</summary>
    /// <param name="counter">Counts the work on the next one; null where nobody waits for it.</param>
    public void Begin(ScanWork? counter = null)
    {
        _work = counter;
        Array.Clear(_termFrequencies);
        Array.Clear(_clauseFrequencies);
        foreach (var list in _positions)
        {
            list?.Clear();
        }

        (IsMatch, Length, _nextPosition) = (false, 0, 0);
    }

    /// <summary>Reads a value of the field; of an array, each element.</summary>
    /// <param name="text">UTF-8.</param>
    public void Add(ReadOnlySpan<byte> text)
    {
        var sink = new Sink(this);
        _nextPosition =
            _query.Analyzer.Analyze(text, AnalysisPurpose.Index, _nextPosition, ref sink) + Analyzer.ValueGap;
    }

    /// <summary>Decides, after the last value.</summary>
    /// <returns><see cref="IsMatch"/>.</returns>
    public bool End()
    {
        int satisfied = 0;
        for (int clause = 0; clause < _clauseFrequencies.Length; clause++)
        {
            switch (_query.Clauses[clause])
            {
                case TermClause term:
                    _clauseFrequencies[clause] = _termFrequencies[term.Term];
                    break;
                case PhraseClause words:
                    _clauseFrequencies[clause] = CountPhrase(words);
                    break;
                default:
                    break;
            }

            satisfied += _clauseFrequencies[clause] > 0 ? 1 : 0;
        }

        IsMatch = satisfied > 0 && (!_query.NeedsAll || satisfied == _clauseFrequencies.Length);
        return IsMatch;
    }

    /// <summary>Gives pooled memory back.</summary>
    public void Dispose()
    {
        foreach (var list in _positions)
        {
            list?.Dispose();
        }
    }

    private int CountPhrase(PhraseClause clause)
    {
        for (int place = 0; place < clause.Words.Count; place++)
        {
            var word = clause.Words[place];
            if (_termFrequencies[word.Term] is 0)
            {
                return 0;
            }

            _phrase[place] = new PhraseWord(_positions[word.Term]!.Positions, word.Offset, word.Term);
        }

        return PhraseMatcher.Count(_phrase.AsSpan(0, clause.Words.Count), clause.Slop);
    }

    private void Take(scoped in Token token)
    {
        Length++;
        _work?.Walk(token.Bytes.Length);
        if (_places.TryGetValue(token.Bytes, out int place))
        {
            _termFrequencies[place]++;
            _positions[place]?.Add(token.Position);
        }

        foreach (var (clause, pattern) in _patterns)
        {
            if (_clauseFrequencies[clause] is 0 && pattern.Matches(token.Bytes, _work))
            {
                _clauseFrequencies[clause] = 1;
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
