using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// A field that <c>moreLikeThis</c> compares: the model's words in the field, and the number of documents that contain
/// each word. Not thread-safe.
/// </summary>
internal sealed class SimilarityField : IDisposable
{
    private readonly FieldReader _reader;
    private readonly SearchableText _text;
    private readonly int[] _frequencies;
    private SearchStatistics _statistics;
    private SearchMatcher _matcher;
    private SearchScorer? _scorer;
    private double[] _boosts = [];

    /// <summary>Reads the model's words.</summary>
    /// <param name="reader">Reads the texts.</param>
    /// <param name="analyzer">The analyzer of the field.</param>
    /// <param name="document">The model document.</param>
    /// <param name="rows">The model's index rows to read instead of the document; null to read the document.</param>
    /// <param name="options">The options that select words.</param>
    /// <param name="text">Buffer for a text.</param>
    public SimilarityField(
        FieldReader reader,
        Analyzer analyzer,
        in QueriedDocument document,
        IReadOnlyList<byte[]>? rows,
        SimilarityOptions options,
        SearchableText text
    )
    {
        _reader = reader;
        _text = text;
        var words = new Dictionary<byte[], int>(BytesComparer.Instance);
        int[] tokensLeft = [options.Tokens]; // an array, because the visitors are copied
        for (int row = 0; row < (rows?.Count ?? 1) && tokensLeft[0] > 0; row++)
        {
            var visitor = new WordCounter(words, analyzer, text, tokensLeft);
            reader.Read(rows is null ? document : document.WithRow(rows[row]), ref visitor);
        }

        KeyValuePair<byte[], int>[] candidates =
        [
            .. words.Where(word =>
                word.Value >= options.MinTermFrequency
                && word.Key.Length >= options.MinWordBytes
                && word.Key.Length <= options.MaxWordBytes
            ),
        ];
        _frequencies = [.. candidates.Select(static word => word.Value)];
        Query = QueryOf(analyzer, [.. candidates.Select(static word => word.Key)]);
        _statistics = new SearchStatistics(Query);
        _matcher = new SearchMatcher(Query);
    }

    /// <summary>Reads the texts.</summary>
    public FieldReader Reader => _reader;

    /// <summary>The words to search for: at first all words of the model, then the chosen ones.</summary>
    public SearchQuery Query { get; private set; }

    /// <summary>Adds a document of the query's source to the word statistics.</summary>
    public void Count(in QueriedDocument document, ScanWork work)
    {
        Read(document, work);
        _statistics.Count(_matcher);
    }

    /// <summary>Uses an index's word statistics instead of counting documents.</summary>
    /// <param name="statistics">The statistics of the words of <see cref="Query"/>.</param>
    public void UseStatistics(SearchStatistics statistics) => _statistics = statistics;

    /// <summary>
    /// Returns the weight of each word as in Lucene: its frequency in the model multiplied by its rarity. Omits words
    /// outside the options' limits.
    /// </summary>
    public IEnumerable<(SimilarityField Field, int Term, double Weight)> WordWeights(SimilarityOptions options)
    {
        for (int term = 0; term < _frequencies.Length; term++)
        {
            long documents = _statistics.DocumentFrequency(term);
            if (
                documents >= options.MinDocuments
                && documents <= options.MaxDocuments
                && documents <= options.MaxDocumentsShare * _statistics.Documents
            )
            {
                yield return (
                    this,
                    term,
                    _frequencies[term] * Bm25.InverseDocumentFrequency(_statistics.Documents, documents)
                );
            }
        }
    }

    /// <summary>Restricts the search to chosen words.</summary>
    /// <param name="terms">The positions of the words in <see cref="Query"/>, and the factors of their scores.</param>
    public void RestrictTo(IReadOnlyList<(int Term, double Boost)> terms)
    {
        long[] documents = [.. terms.Select(word => _statistics.DocumentFrequency(word.Term))];
        _boosts = [.. terms.Select(static word => word.Boost)];
        Query = QueryOf(Query.Analyzer, [.. terms.Select(word => Query.Terms[word.Term])]);
        _scorer = new SearchScorer(Query, new SearchStatistics(_statistics.Documents, _statistics.Tokens, documents));
        _matcher.Dispose();
        _matcher = new SearchMatcher(Query);
    }

    /// <summary>Returns the score of a document by this field; 0 if it contains none of the words.</summary>
    public double Score(in QueriedDocument document, ScanWork work)
    {
        if (_boosts.Length == 0 || !Read(document, work))
        {
            return 0;
        }

        double score = 0;
        for (int clause = 0; clause < _boosts.Length; clause++)
        {
            score += _boosts[clause] * _scorer!.Score(clause, _matcher.ClauseFrequencies[clause], _matcher.Length);
        }

        return score;
    }

    /// <inheritdoc/>
    public void Dispose() => _matcher.Dispose();

    private bool Read(in QueriedDocument document, ScanWork work)
    {
        _matcher.Begin(work);
        var visitor = new TextReader(_matcher, _text);
        _reader.Read(document, ref visitor);
        return _matcher.End();
    }

    private static SearchQuery QueryOf(Analyzer analyzer, byte[][] terms) =>
        new(
            analyzer,
            terms,
            [.. Enumerable.Range(0, terms.Length).Select(static term => new TermClause(term))],
            needsAll: false
        );

    private readonly struct TextReader(SearchMatcher matcher, SearchableText text) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            matcher.Add(text.Of(json));
            return true;
        }
    }

    private readonly struct WordCounter(
        Dictionary<byte[], int> words,
        Analyzer analyzer,
        SearchableText text,
        int[] tokensLeft
    ) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            var sink = new Sink(words, tokensLeft);
            analyzer.Analyze(text.Of(json), AnalysisPurpose.Index, firstPosition: 0, ref sink);
            return tokensLeft[0] > 0;
        }
    }

    private readonly struct Sink(Dictionary<byte[], int> words, int[] tokensLeft) : ITokenSink
    {
        public bool Add(scoped in Token token)
        {
            if (tokensLeft[0]-- <= 0)
            {
                return false;
            }

            var lookup = words.GetAlternateLookup<ReadOnlySpan<byte>>();
            lookup[token.Bytes] = lookup.TryGetValue(token.Bytes, out int occurrences) ? occurrences + 1 : 1;
            return true;
        }
    }
}
