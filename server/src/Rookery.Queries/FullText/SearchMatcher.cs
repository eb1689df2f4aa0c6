using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// Matches the texts of a field against a full-text search, one document after another. A scan that scores uses it
/// twice: it first counts every document (<see cref="SearchStatistics.Count"/>), then scores those that match
/// (<see cref="SearchScorer.Score(SearchMatcher)"/>). Not thread-safe.
/// </summary>
public sealed class SearchMatcher : IDisposable
{
    private readonly SearchQuery _query;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> _termNumbers;
    private readonly int[] _termFrequencies;
    private readonly double[] _clauseFrequencies;
    private readonly PositionList?[] _positions;
    private readonly (int Clause, TokenPattern Pattern)[] _patterns;
    private readonly PhraseWord[] _phrase;
    private int _nextPosition;
    private ScanWork? _work;

    /// <summary>Creates a matcher that has read no document.</summary>
    public SearchMatcher(SearchQuery query)
    {
        _query = query;
        var terms = new Dictionary<byte[], int>(BytesComparer.Instance);
        foreach (byte[] term in query.Terms)
        {
            terms.Add(term, terms.Count);
        }

        _termNumbers = terms.GetAlternateLookup<ReadOnlySpan<byte>>();
        _termFrequencies = new int[query.Terms.Count];
        _clauseFrequencies = new double[query.Clauses.Count];
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

    /// <summary>Whether the document read last matches the search.</summary>
    public bool IsMatch { get; private set; }

    /// <summary>Number of tokens of the document read last.</summary>
    public int Length { get; private set; }

    /// <summary>Occurrences of each of <see cref="SearchQuery.Terms"/> in the document.</summary>
    public ReadOnlySpan<int> TermFrequencies => _termFrequencies;

    /// <summary>
    /// Occurrences of each of <see cref="SearchQuery.Clauses"/> in the document; 0 or 1 for a pattern, and for a phrase
    /// as <see cref="PhraseMatcher.Count"/> counts them.
    /// </summary>
    public ReadOnlySpan<double> ClauseFrequencies => _clauseFrequencies;

    /// <summary>Starts the next document.</summary>
    /// <param name="counter">Counts the work on the document against the time limit; null for no limit.</param>
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

    /// <summary>Reads a value of the field; called for each element of an array.</summary>
    /// <param name="text">The text in UTF-8.</param>
    public void Add(ReadOnlySpan<byte> text)
    {
        var sink = new Sink(this);
        _nextPosition =
            _query.Analyzer.Analyze(text, AnalysisPurpose.Index, _nextPosition, ref sink) + Analyzer.ValueGap;
    }

    /// <summary>Ends the document after its last value.</summary>
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

    /// <summary>Releases pooled memory.</summary>
    public void Dispose()
    {
        foreach (var list in _positions)
        {
            list?.Dispose();
        }
    }

    private double CountPhrase(PhraseClause clause)
    {
        for (int i = 0; i < clause.Words.Count; i++)
        {
            var word = clause.Words[i];
            if (_termFrequencies[word.Term] is 0)
            {
                return 0;
            }

            _phrase[i] = new PhraseWord(_positions[word.Term]!.Positions, word.Offset, word.Term);
        }

        return PhraseMatcher.Count(_phrase.AsSpan(0, clause.Words.Count), clause.Slop);
    }

    private void AddToken(scoped in Token token)
    {
        Length++;
        _work?.CountBytes(token.Bytes.Length);
        if (_termNumbers.TryGetValue(token.Bytes, out int term))
        {
            _termFrequencies[term]++;
            _positions[term]?.Add(token.Position);
        }

        foreach (var (clause, pattern) in _patterns)
        {
            if (_clauseFrequencies[clause] == 0 && pattern.Matches(token.Bytes, _work))
            {
                _clauseFrequencies[clause] = 1;
            }
        }
    }

    private readonly struct Sink(SearchMatcher matcher) : ITokenSink
    {
        public bool Add(scoped in Token token)
        {
            matcher.AddToken(token);
            return true;
        }
    }
}
