using System.Text;
using System.Text.RegularExpressions;
using CsCheck;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;
using Rookery.Simulation;

namespace Rookery.Queries.Tests.FullText;

/// <summary>Whether a text matches a search, and how often its terms occur.</summary>
public sealed class SearchMatcherTests
{
    private const string Text = "The quick brown fox jumped over the lazy dogs";

    [Theory]
    [InlineData("cat FOX", false, true)]
    [InlineData("cat FOX", true, false)]
    [InlineData("lazy fox", true, true)]
    [InlineData("lazy the fox", true, true)]
    [InlineData("the", false, false)]
    [InlineData("", true, false)]
    [InlineData("*", false, true)]
    [InlineData("qu*", false, true)]
    [InlineData("*ick", false, true)]
    [InlineData("*row*", false, true)]
    [InlineData("q*k", false, true)]
    [InlineData("quick*quick", false, false)]
    [InlineData("uick*", false, false)]
    [InlineData("*qui", false, false)]
    [InlineData("\"brown fox\"", false, true)]
    [InlineData("\"fox brown\"", false, false)]
    [InlineData("\"over the lazy\"", false, true)]
    [InlineData("\"over lazy\"", false, true)] // stop words take no position
    [InlineData("\"jumped lazy\"", false, false)]
    [InlineData("\"over a lazy\"", false, true)]
    public void A_text_matches_if_it_has_the_terms(string terms, bool needsAll, bool matches) =>
        Assert.Equal(matches, SearchTestData.Find(terms, needsAll, Text));

    [Fact]
    public void Values_of_a_field_are_searched_together_but_no_phrase_spans_two()
    {
        Assert.True(SearchTestData.Find("quick dogs", true, "quick fox", "lazy dogs"));
        Assert.False(SearchTestData.Find("\"fox lazy\"", true, "quick fox", "lazy dogs"));
        Assert.True(SearchTestData.Find("\"lazy dogs\"", true, "quick fox", "lazy dogs"));
        Assert.False(SearchTestData.Find("*", false));
        Assert.False(SearchTestData.Find("*", false, "", "!"));
    }

    [Fact]
    public void Frequencies_and_lengths_are_counted()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        using var matcher = new SearchMatcher(
            SearchTerms.Parse(analyzer, "dog \"big dog\" d* cat", needsAll: false, position: 0)
        );
        // The second round shows that a matcher keeps no counts of the document before.
        for (int round = 0; round < 2; round++)
        {
            Assert.True(SearchTestData.Read(matcher, "big dog, small dog", "the big dog"));
            Assert.Equal(6, matcher.Length);
            Assert.Equal([3, 2, 0], matcher.TermFrequencies.ToArray());
            Assert.Equal([3, 2, 1, 0], matcher.ClauseFrequencies.ToArray());
        }
    }

    [Theory]
    [InlineData("brown jumped", 0, false)]
    [InlineData("brown jumped", 1, true)]
    [InlineData("fox brown", 1, false)]
    [InlineData("fox brown", 2, true)]
    [InlineData("the fox", 0, true)]
    [InlineData("fox fox", 1000, false)]
    [InlineData("quick dogs", 5, true)]
    [InlineData("quick dogs", 4, false)]
    public void A_text_matches_if_its_words_are_within_the_distance(string terms, int distance, bool matches)
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        using var matcher = new SearchMatcher(SearchTerms.ParseProximity(analyzer, terms, distance, position: 0));
        Assert.Equal(matches, SearchTestData.Read(matcher, Text));
    }

    /// <summary>Compares with an exhaustive search of all placements of the words.</summary>
    [Fact]
    public void Phrases_are_counted_as_the_definition_says()
    {
        int matched = 0;
        // Words of a phrase: the term, and the distance from the word before.
        var steps = Gen.Select(
            Gen.Int[0, 2],
            Gen.Int[1, 2],
            static (term, distance) => (Term: term, Distance: distance)
        ).Array[2, 4];
        Gen.Select(Gen.Int[0, 2].Array[1, 11], steps, Gen.Frequency((1, Gen.Const(0)), (3, Gen.Int[0, 4])))
            .CheckEach(
                20_000,
                one =>
                {
                    var (document, phraseSteps, slop) = one;
                    int offset = -phraseSteps[0].Distance;
                    (int Term, int Offset)[] words =
                    [
                        .. phraseSteps.Select(step => (step.Term, offset += step.Distance)),
                    ];
                    int[] PositionsOf(int term) =>
                        [.. Enumerable.Range(0, document.Length).Where(at => document[at] == term)];
                    int[][] positions = [PositionsOf(0), PositionsOf(1), PositionsOf(2)];
                    double expected = words
                        .SelectMany(word => positions[word.Term].Select(position => position - word.Offset))
                        .Distinct()
                        .Order()
                        .Select(start =>
                            Enumerable
                                .Range(0, slop + 1)
                                .Where(away => CanPlace(words, positions, start, away, word: 0, usedPositions: []))
                                .Select(static away => 1.0 / (1 + away))
                                .FirstOrDefault()
                        )
                        .Sum();
                    PhraseWord[] phrase =
                    [
                        .. words.Select(word => new PhraseWord(positions[word.Term], word.Offset, word.Term)),
                    ];
                    Assert.Equal(expected, PhraseMatcher.Count(phrase, slop));
                    matched += expected > 0 ? 1 : 0;
                }
            );
        Assert.InRange(matched, 2000, 18_000);
    }

    /// <summary>Compares with regular expressions.</summary>
    [Fact]
    public void Patterns_match_like_regular_expressions()
    {
        using var analyzer = AnalyzerCatalog.Make("WhitespaceAnalyzer");
        Gen.Select(Gen.String[Gen.Char["ab*"], 1, 6], Gen.OneOf("*", "*a"), Gen.String[Gen.Char["ab"], 1, 7])
            .CheckEach(
                5000,
                one =>
                {
                    var (pattern, end, token) = one;
                    var clause = Assert.IsType<WildcardClause>(
                        SearchTerms.Parse(analyzer, pattern + end, needsAll: false, position: 0).Clauses.Single()
                    );
                    bool expected = Regex.IsMatch(
                        token,
                        $"^{(pattern + end).Replace("*", ".*", StringComparison.Ordinal)}$",
                        RegexOptions.NonBacktracking
                    );
                    Assert.Equal(expected, clause.Pattern.Matches(Encoding.UTF8.GetBytes(token), null));
                    Assert.True(
                        !expected
                            || token.StartsWith(
                                Encoding.UTF8.GetString(clause.Pattern.Prefix),
                                StringComparison.Ordinal
                            )
                    );
                }
            );
    }

    /// <summary>A phrase of 64 words over a text that has each of them at every position.</summary>
    [Fact]
    public void The_worst_search_over_a_long_text_ends()
    {
        using var analyzer = AnalyzerCatalog.Make("WhitespaceAnalyzer");
        byte[] text = Encoding.UTF8.GetBytes(string.Concat(Enumerable.Repeat("x ", 1 << 17)));
        var terms = SearchTerms.ParseProximity(
            analyzer,
            string.Join(' ', Enumerable.Repeat("x", SearchTerms.MaxWordsOfPhrase)),
            LuceneParser.MaxSlop,
            position: 0
        );
        using var matcher = new SearchMatcher(terms);
        matcher.Begin();
        matcher.Add(text);
        Assert.True(matcher.End());
        Assert.Equal(1 << 17, matcher.Length);
    }

    /// <summary>
    /// Returns whether the words from <paramref name="word"/> on can be placed: each at its offset from the start or up
    /// to <paramref name="slop"/> later, and no two equal words at one position.
    /// </summary>
    private static bool CanPlace(
        (int Term, int Offset)[] words,
        int[][] positions,
        int start,
        int slop,
        int word,
        HashSet<(int, int)> usedPositions
    )
    {
        if (word == words.Length)
        {
            return true;
        }

        var (term, offset) = words[word];
        foreach (int position in positions[term])
        {
            if (position >= start + offset && position <= start + offset + slop && usedPositions.Add((term, position)))
            {
                if (CanPlace(words, positions, start, slop, word + 1, usedPositions))
                {
                    return true;
                }

                usedPositions.Remove((term, position));
            }
        }

        return false;
    }
}
