using System.Text;
using System.Text.Json;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Tests.Execution;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.FullText;

/// <summary>Scores of full-text searches, by the formula BM25.</summary>
public sealed class RelevanceTests
{
    // The parameters of BM25: how much a word's repetition counts, and how much the length of a text does.
    private const double K1 = 1.2;
    private const double B = 0.75;

    /// <summary>
    /// Compares scores with the formula, computed directly on words with none of the product's code but the analyzer's
    /// rule for these texts.
    /// </summary>
    [Fact]
    public void Scores_agree_with_a_direct_computation()
    {
        var random = new Random(13);
        string[] words = [.. Enumerable.Range(0, 40).Select(static number => $"w{number}")];
        string[][] documents =
        [
            .. Enumerable
                .Range(0, 500)
                .Select(_ =>
                    Enumerable
                        .Range(0, random.Next(0, 60))
                        .Select(_ => words[Math.Min(random.Next(40), random.Next(40))])
                        .ToArray()
                ),
        ];
        string[] searchedWords = ["w0", "w7", "w39", "w41"];
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        var query = SearchTerms.Parse(
            analyzer,
            string.Join(' ', searchedWords) + " \"w1 w2\" w3*",
            needsAll: false,
            position: 0
        );
        using var matcher = new SearchMatcher(query);
        var statistics = new SearchStatistics(query);
        foreach (string[] document in documents)
        {
            SearchTestData.Read(matcher, string.Join(", ", document));
            statistics.Count(matcher);
        }

        string[][] nonEmpty = [.. documents.Where(static document => document.Length > 0)];
        double average = nonEmpty.Average(static document => document.Length);
        var scorer = new SearchScorer(query, statistics);
        int matched = 0;
        foreach (string[] document in documents)
        {
            double expected =
                searchedWords.Sum(word =>
                    Rarity(word)
                    * Weight(document.Count(other => other.Equals(word, StringComparison.Ordinal)), document.Length)
                )
                + (
                    (Rarity("w1") + Rarity("w2"))
                    * Weight(document.Zip(document.Skip(1)).Count(static pair => pair is ("w1", "w2")), document.Length)
                )
                + (document.Any(static word => word.StartsWith("w3", StringComparison.Ordinal)) ? 1 : 0);
            matched += SearchTestData.Read(matcher, string.Join(", ", document)) ? 1 : 0;
            Assert.Equal(matcher.IsMatch, expected > 0);
            Assert.Equal(expected, scorer.Score(matcher), 1e-9);
        }

        Assert.InRange(matched, 300, 499);

        double Rarity(string word)
        {
            int containing = nonEmpty.Count(document => document.Contains(word, StringComparer.Ordinal));
            return Math.Log(1 + ((nonEmpty.Length - containing + 0.5) / (containing + 0.5)));
        }

        double Weight(int frequency, int length) =>
            frequency is 0 ? 0 : frequency * (K1 + 1) / (frequency + (K1 * (1 - B + (B * length / average))));
    }

    /// <summary>
    /// Runs queries end to end over the paragraphs of this project's documentation, and compares order and scores with
    /// the formula, computed directly on the words.
    /// </summary>
    [Theory]
    [InlineData("index documents", false)]
    [InlineData("node cluster disk", false)]
    [InlineData("node disk", true)]
    [InlineData("journal", false)]
    public void Ranking_of_shipped_texts_agrees_with_a_direct_computation(string words, bool needsAll)
    {
        string[] searchedWords = words.Split(' ');
        string[] texts =
        [
            .. Directory
                .GetFiles(FindDocumentation(), "*.md", SearchOption.AllDirectories)
                .Order(StringComparer.Ordinal)
                .SelectMany(static file => File.ReadAllText(file).Split("\n\n", StringSplitOptions.RemoveEmptyEntries)),
        ];
        string[][] tokens =
        [
            .. texts.Select(static text =>
                CollectedTokens.Of(AnalyzerCatalog.Default, text).Select(static token => token.Text).ToArray()
            ),
        ];
        double count = tokens.Count(static text => text.Length > 0);
        double average = tokens.Sum(static text => text.Length) / count;
        (int Place, double Score)[] expected =
        [
            .. tokens
                .Index()
                .Where(text => needsAll ? searchedWords.All(text.Item.Contains) : searchedWords.Any(text.Item.Contains))
                .Select(text => (Place: text.Index, Score: searchedWords.Sum(word => Score(word, text.Item))))
                .OrderByDescending(static result => result.Score)
                .ThenBy(static result => result.Place),
        ];
        Assert.True(expected.Length > 10, $"{expected.Length} of {texts.Length} texts match");

        using var fullText = new FullTextConditions(static _ => AnalyzerCatalog.Default);
        var plan = CompiledQuery.Compile(
            RqlParser.Parse($"from Texts where search(text, '{words}'{(needsAll ? ", and" : "")})"),
            QueryParameters.None,
            fullText
        );
        byte[][] stored =
        [
            .. texts.Select(
                static (text, place) => StoredExample.Store($"texts/{place}", JsonSerializer.Serialize(new { text }))
            ),
        ];
        using var run = plan.Start(
            new QueryMemory(new MemoryBudget(64 << 20).AddShare("queries", limitBytes: 64 << 20)),
            new PatientClock()
        );
        foreach (var (place, document) in stored.Index())
        {
            plan.CountWords(
                new QueriedDocument(
                    new DocumentView(document),
                    place + 1,
                    Encoding.UTF8.GetBytes(StoredExample.HistoryId)
                ),
                new PatientClock()
            );
        }

        foreach (var (place, document) in stored.Index())
        {
            // No result is known before all are scored.
            Assert.False(
                run.Add(
                    new QueriedDocument(
                        new DocumentView(document),
                        place + 1,
                        Encoding.UTF8.GetBytes(StoredExample.HistoryId)
                    )
                )
            );
        }

        AssertRanked([.. run.Finish().Documents]);

        using var example = new IndexExample(
            new AutoIndexDefinition(collection: null, [new AutoIndexField(["text"], AutoIndexFieldUses.Search)])
        );
        foreach (var (place, text) in texts.Index())
        {
            example.Put($"texts/{place}", JsonSerializer.Serialize(new { text }));
        }

        example.Apply();
        using var indexed = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        using var answer = example.Open(
            CompiledQuery.Compile(
                RqlParser.Parse($"from @all_docs where search(text, '{words}'{(needsAll ? ", and" : "")})"),
                QueryParameters.None,
                indexed
            )
        );
        Assert.False(answer.AreCandidates);
        AssertRanked([.. answer.Documents]);

        void AssertRanked(ScannedDocument[] actual)
        {
            Assert.Equal(expected.Length, actual.Length);
            Assert.All(
                actual.Zip(expected),
                static pair => Assert.Equal(pair.Second.Score, pair.First.Score!.Value, 1e-5)
            );
            Assert.Equal(
                expected.Select(static result => result.Place).Order(),
                actual.Select(static document => (int)document.Etag - 1).Order()
            );
        }

        double Score(string word, string[] text)
        {
            int containing = tokens.Count(document => document.Contains(word, StringComparer.Ordinal));
            int frequency = text.Count(other => other.Equals(word, StringComparison.Ordinal));
            return Math.Log(1 + ((count - containing + 0.5) / (containing + 0.5)))
                * frequency
                * (K1 + 1)
                / (frequency + (K1 * (1 - B + (B * text.Length / average))));
        }
    }

    [Fact]
    public void A_rare_word_counts_more_and_a_long_text_less()
    {
        Assert.True(
            Bm25.InverseDocumentFrequency(documents: 1000, documentFrequency: 1)
                > Bm25.InverseDocumentFrequency(documents: 1000, documentFrequency: 500)
        );
        Assert.True(Bm25.InverseDocumentFrequency(documents: 1000, documentFrequency: 1000) > 0);
        Assert.True(
            Bm25.Weight(frequency: 2, length: 10, averageLength: 10)
                > Bm25.Weight(frequency: 1, length: 10, averageLength: 10)
        );
        Assert.True(
            Bm25.Weight(frequency: 1, length: 10, averageLength: 10)
                > Bm25.Weight(frequency: 1, length: 20, averageLength: 10)
        );
    }

    [Fact]
    public void Statistics_of_an_index_score_as_those_of_a_scan()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        var query = SearchTerms.Parse(analyzer, "fox dog", needsAll: false, position: 0);
        using var matcher = new SearchMatcher(query);
        var counted = new SearchStatistics(query);
        foreach (string text in (string[])["a fox", "fox and fox", "cat", "dog or fox"])
        {
            SearchTestData.Read(matcher, text);
            counted.Count(matcher);
        }

        // Four texts with six words, as stop words do not count. Three have a fox, one a dog.
        var known = new SearchStatistics(4, 6, [3, 1]);
        Assert.Equal(
            (counted.Documents, counted.Tokens, counted.DocumentFrequency(0)),
            (known.Documents, known.Tokens, known.DocumentFrequency(0))
        );
        Assert.Equal(new SearchScorer(query, known).Score(matcher), new SearchScorer(query, counted).Score(matcher));
    }

    private static string FindDocumentation()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Rookery.slnx")))
            {
                return Path.Combine(folder.FullName, "docs");
            }
        }

        throw new InvalidOperationException("The tests are not in the repository.");
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
