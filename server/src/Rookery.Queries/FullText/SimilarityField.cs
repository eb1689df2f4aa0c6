using Rookery.Indexing.Values;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// A field that <c>moreLikeThis</c> compares, and the number of documents that contain each of the model's words in it.
/// Not thread-safe.
/// </summary>
internal sealed class SimilarityField : IDisposable
{
    private readonly FieldReader _reader;
    private readonly SearchableText _text;
    private SearchStatistics _statistics;
    private SearchMatcher _matcher;
    private SearchScorer? _scorer;
    private double[] _boosts = [];

    /// <summary>Creates a field without statistics.</summary>
    /// <param name="reader">Reads the texts.</param>
    /// <param name="analyzer">The analyzer of the field.</param>
    /// <param name="words">The model's words, of all fields.</param>
    /// <param name="text">Buffer for a text.</param>
    public SimilarityField(FieldReader reader, Analyzer analyzer, byte[][] words, SearchableText text)
    {
        _reader = reader;
        _text = text;
        Query = QueryOf(analyzer, words);
        _statistics = new SearchStatistics(Query);
        _matcher = new SearchMatcher(Query);
    }

    /// <summary>Reads the texts.</summary>
    public FieldReader Reader => _reader;

    /// <summary>
    /// The words to search for: at first all words of the model, then the chosen ones of this field.
    /// </summary>
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

    /// <summary>The number of documents that have a token in the field, and the number of these tokens.</summary>
    public (long Documents, long Tokens) Size => (_statistics.Documents, _statistics.Tokens);

    /// <summary>Returns the number of documents that contain a word in the field.</summary>
    /// <param name="term">The word's position in <see cref="Query"/>.</param>
    public long DocumentFrequency(int term) => _statistics.DocumentFrequency(term);

    /// <summary>Counts the words of the model in a field.</summary>
    /// <param name="reader">Reads the texts.</param>
    /// <param name="analyzer">The analyzer of the field.</param>
    /// <param name="document">The model document.</param>
    /// <param name="rows">The model's index rows to read instead of the document; null to read the document.</param>
    /// <param name="maxTokens">Maximum words to read.</param>
    /// <param name="text">Buffer for a text.</param>
    /// <param name="words">Receives the words.</param>
    public static void CountWords(
        FieldReader reader,
        Analyzer analyzer,
        in QueriedDocument document,
        IReadOnlyList<byte[]>? rows,
        int maxTokens,
        SearchableText text,
        ModelWords words
    )
    {
        int[] tokensLeft = [maxTokens]; // an array, because the visitors are copied
        for (int row = 0; row < (rows?.Count ?? 1) && tokensLeft[0] > 0; row++)
        {
            var visitor = new WordCounter(words, analyzer, text, tokensLeft);
            reader.Read(rows is null ? document : document.WithRow(rows[row]), ref visitor);
        }
    }

    /// <summary>Restricts the search to chosen words.</summary>
    /// <param name="terms">The positions of the words in <see cref="Query"/>, and the factors of their scores.</param>
    /// <param name="averageLength">The average length of a text of all compared fields.</param>
    public void RestrictTo(IReadOnlyList<(int Term, double Boost)> terms, double averageLength)
    {
        long[] documents = [.. terms.Select(word => _statistics.DocumentFrequency(word.Term))];
        _boosts = [.. terms.Select(static word => word.Boost)];
        Query = QueryOf(Query.Analyzer, [.. terms.Select(word => Query.Terms[word.Term])]);
        _scorer = new SearchScorer(
            Query,
            new SearchStatistics(_statistics.Documents, _statistics.Tokens, documents),
            averageLength
        );
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

    private readonly struct WordCounter(ModelWords words, Analyzer analyzer, SearchableText text, int[] tokensLeft)
        : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            var sink = new Sink(words, tokensLeft);
            analyzer.Analyze(text.Of(json), AnalysisPurpose.Index, firstPosition: 0, ref sink);
            return tokensLeft[0] > 0;
        }
    }

    private readonly struct Sink(ModelWords words, int[] tokensLeft) : ITokenSink
    {
        public bool Add(scoped in Token token)
        {
            if (tokensLeft[0]-- <= 0)
            {
                return false;
            }

            words.Add(token.Bytes);
            return true;
        }
    }
}
