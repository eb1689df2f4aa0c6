using System.Text;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.FullText;

/// <summary>Full-text conditions combined with other conditions, evaluated on documents.</summary>
public sealed class FullTextConditionsTests
{
    private static readonly string[] Documents =
    [
        """ "title":"The big \"Fox\"","tags":["red","animal"],"n":1 """,
        """ "title":"fox and fox and dog","tags":["red"],"n":2 """,
        """ "title":["lazy dog","big cat"],"n":3 """,
        """ "title":null,"n":4 """,
        """ "n":2024,"title":2024 """,
        """ "title":{"fox":1} """,
    ];

    [Theory]
    [InlineData("search(title, 'fox')", "0 1")]
    [InlineData("search(title, 'fox dog')", "0 1 2")]
    [InlineData("search(title, 'fox dog', and)", "1")]
    [InlineData("search(title, '\"dog big\"')", "")]
    [InlineData("search(title, 'la* 2024')", "2 4")]
    [InlineData("search(title, '*')", "0 1 2 4")]
    [InlineData("not search(title, 'fox')", "2 3 4 5")]
    [InlineData("search(title, 'fox') and n > 1", "1")]
    [InlineData("boost(search(title, 'fox'), 3) or n = 3", "0 1 2")]
    [InlineData("proximity(search(title, 'fox dog'), 2)", "1")]
    [InlineData("fuzzy(tags = 'ANIMALS', 0.8)", "0")]
    [InlineData("fuzzy(tags = 'rod', 0.7)", "")]
    [InlineData("fuzzy(tags = 'rod', 0.6)", "0 1")]
    public void Documents_match_a_condition(string condition, string expected)
    {
        using var scan = new Scan(condition);
        Assert.Equal(
            expected,
            string.Join(' ', Enumerable.Range(0, Documents.Length).Where(document => scan.Score(document) is not null))
        );
        Assert.All(
            Enumerable.Range(0, Documents.Length),
            document => Assert.Equal(scan.Score(document) is not null, scan.Matches(document))
        );
    }

    [Fact]
    public void Scores_add_up_the_matching_clauses()
    {
        double fox = ScoreOf("search(title, 'fox')", document: 1);
        double dog = ScoreOf("search(title, 'dog')", document: 1);
        Assert.True(fox > 0 && dog > 0);
        Assert.Equal(fox + dog, ScoreOf("search(title, 'fox dog')", document: 1), 1e-12);
        Assert.Equal(fox + dog, ScoreOf("search(title, 'fox') and search(title, 'dog')", document: 1), 1e-12);
        Assert.Equal(fox + 1, ScoreOf("search(title, 'fox') or n = 2 or n = 3", document: 1), 1e-12);
        Assert.Equal(
            (2.5 * fox) + 0.5,
            ScoreOf("boost(search(title, 'fox'), 2.5) and boost(n = 2, 0.5)", document: 1),
            1e-12
        );
        Assert.Equal(fox, ScoreOf("search(title, 'fox') and not n = 3", document: 1), 1e-12);
        // Four documents have tokens, 2 + 3 + 4 + 1 in all; "the" and "and" are stop words.
        Assert.Equal(
            Bm25.InverseDocumentFrequency(documents: 4, documentFrequency: 2)
                * Bm25.Weight(frequency: 2, length: 3, 10 / 4.0),
            fox,
            1e-12
        );
    }

    /// <summary>JSON has no number for an infinite score.</summary>
    [Theory]
    [InlineData("boost(n = 2, 0)", 0)]
    [InlineData("boost(n in (1, 2), 0) or boost(n = 2, 3)", 3)]
    [InlineData("boost(boost(n = 2, 1e200), 1e200)", 1e300)]
    [InlineData("boost(n = 2, 1.7e308) and boost(n = 2, 1.7e308)", 2e300)]
    [InlineData("boost(boost(n = 2, 1.7e308) or boost(n = 2, 1.7e308), 5)", 1e300)]
    [InlineData("boost(boost(lucene(title, 'f*^FACTOR'), 1e200), 1e200)", 1e300)]
    public void Factors_that_multiply_beyond_the_range_of_numbers_give_a_finite_score(string condition, double score)
    {
        string factor = "1" + new string('0', 300);
        Assert.Equal(score, ScoreOf(condition.Replace("FACTOR", factor, StringComparison.Ordinal), document: 1));
    }

    [Theory]
    [InlineData("boost(n = 1, -1)")]
    [InlineData("boost(n = 1, 'x')")]
    [InlineData("fuzzy(title = 'x', 2)")]
    [InlineData("proximity(search(title, 'a b'), 2000)")]
    [InlineData("proximity(search(title, 'a b'), null)")]
    [InlineData("proximity(search(title, 'fluent'), 1)")]
    public void Invalid_options_are_refused(string condition) =>
        Assert.Equal(QueryFault.Invalid, Assert.Throws<QueryException>(() => new Scan(condition).Dispose()).Fault);

    /// <summary>
    /// The clock ends a query whose client disconnected, so it must be checked within one document, too.
    /// </summary>
    [Theory]
    [InlineData("lucene(title, '*a*a*a*a*b')", 3000)]
    [InlineData("lucene(title, 'TEXT~0.1')", 3000)]
    [InlineData("search(title, 'a*a*a*b')", 3000)]
    [InlineData("exact(lucene(title, '*a*a*a*a*b'))", 3000)]
    // A regular expression may take one second per text. 2 KB take a thousandth of that; 600 KB take most of it on a
    // busy machine.
    [InlineData("regex(title, '(a|aa){50}b$')", 10)]
    public void A_pattern_checks_the_clock_within_one_document(string condition, int words)
    {
        string word = new('a', 200);
        using var scan = new Scan(condition.Replace("TEXT", word[1..] + "b", StringComparison.Ordinal));
        string members = $"\"title\":\"{string.Join(' ', Enumerable.Repeat(word, words))}\"";
        scan.Evaluate(Encoding.UTF8.GetBytes(members));
        Assert.NotEqual(0, scan.LimitChecks);
    }

    [Fact]
    public void The_words_of_a_model_take_memory_of_the_query_until_its_end()
    {
        const int Words = 10_000,
            BytesPerWord = 100;
        string text = string.Join(' ', Enumerable.Range(0, Words).Select(static number => $"word{number}"));
        string options = """{"MinimumTermFrequency":1,"MaximumNumberOfTokensParsed":100000}""";
        var condition = RqlParser
            .Parse($$"""from Things where moreLikeThis('{"title":"{{text}}"}', '{{options}}')""")
            .Where;
        var share = new MemoryBudget(64 << 20).AddShare("queries", 64 << 20);
        using (var words = new FullTextConditions(static _ => AnalyzerCatalog.Default))
        {
            Compile(words);
            words.UseMemory(new QueryMemory(share));
            Assert.InRange(share.UsedBytes, Words * BytesPerWord, 64 << 20);
            words.UseMemory(new QueryMemory(share)); // another try of the query
            Assert.InRange(share.UsedBytes, Words * BytesPerWord, 64 << 20);
        }

        Assert.Equal(0, share.UsedBytes);
        var small = new MemoryBudget(Words * BytesPerWord).AddShare("queries", Words * BytesPerWord);
        using var refused = new FullTextConditions(static _ => AnalyzerCatalog.Default);
        Compile(refused);
        Assert.Equal(
            QueryFault.TooCostly,
            Assert.Throws<QueryException>(() => refused.UseMemory(new QueryMemory(small))).Fault
        );
        Assert.Equal(0, small.UsedBytes);

        void Compile(FullTextConditions words) =>
            new ConditionCompiler(new DocumentFields(), new OperandValues(QueryParameters.None), words).Compile(
                condition
            );
    }

    /// <summary>A scan answers if an index turns out to be damaged after its statistics were used.</summary>
    [Fact]
    public void Words_are_counted_anew_after_the_statistics_of_an_index_were_used()
    {
        const string Condition = "search(title, 'fox')";
        using var scan = new Scan(Condition, UseStatistics);
        Assert.Equal(ScoreOf(Condition, document: 1), scan.Score(1)!.Value);

        static void UseStatistics(Predicate condition)
        {
            var searched = (SearchedField)((FullTextPredicate)condition).Condition;
            searched.UseStatistics(new SearchStatistics(documents: 100, tokens: 1000, [7]));
        }
    }

    private static double ScoreOf(string condition, int document)
    {
        using var scan = new Scan(condition);
        return scan.Score(document) ?? double.NaN;
    }

    private sealed class Scan : IDisposable, IWorkLimits
    {
        private readonly Analyzer _analyzer = AnalyzerCatalog.Make(AnalyzerCatalog.DefaultName);
        private readonly FullTextConditions _fullText;
        private readonly ScanWork _work;
        private readonly Predicate _predicate;

        /// <summary>Compiles a condition, and counts the words of all documents.</summary>
        /// <param name="condition">The condition.</param>
        /// <param name="beforeCount">Called before the first document is counted; null for nothing.</param>
        internal Scan(string condition, Action<Predicate>? beforeCount = null)
        {
            _fullText = new FullTextConditions(_ => _analyzer);
            _work = new ScanWork(this);
            _predicate = new ConditionCompiler(
                new DocumentFields(),
                new OperandValues(QueryParameters.None),
                _fullText
            ).Compile(RqlParser.Parse($"from Things where {condition}").Where);
            beforeCount?.Invoke(_predicate);
            for (int document = 0; document < Documents.Length; document++)
            {
                _fullText.CountWords(new QueriedDocument(Members(document)), this);
            }
        }

        internal int LimitChecks { get; private set; }

        public void CheckLimits() => LimitChecks++;

        public void Dispose()
        {
            _work.Release();
            _fullText.Dispose();
            _analyzer.Dispose();
        }

        /// <summary>Evaluates another document, and counts the checks of limits meanwhile.</summary>
        internal void Evaluate(byte[] members)
        {
            LimitChecks = 0;
            _predicate.Matches(new QueriedDocument(members), _work);
        }

        internal bool Matches(int document) => _predicate.Matches(new QueriedDocument(Members(document)), _work);

        internal double? Score(int document) =>
            _predicate.TryScore(new QueriedDocument(Members(document)), _work, out double score) ? score : null;

        private static byte[] Members(int document) => Encoding.UTF8.GetBytes(Documents[document].Trim());
    }
}
