using System.Text;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.FullText;

/// <summary>How the text of a search is read: its words, phrases and patterns.</summary>
public sealed class SearchTermsTests
{
    // Phrases stand in brackets, each word with its distance from the first.
    [Theory]
    [InlineData("lazy Dog", "lazy dog")]
    [InlineData("  \"Lazy  dog\" the - fox ", "(lazy+0 dog+1) fox")]
    [InlineData("\"state of the art\"", "(state+0 art+1)")]
    [InlineData("bob@example.com 東京", "(bob+0 example.com+1) (東+0 京+1)")]
    [InlineData("Ca* *CÉ *b* c*t * **", "ca* *ce *b* c*t * *")]
    [InlineData("a\\*b \\\"c\\\\ \\x", "b c x")]
    [InlineData("dog dog", "dog dog")]
    [InlineData("dog\"lazy fox\"cat \"open end", "dog (lazy+0 fox+1) cat (open+0 end+1)")]
    [InlineData("\"one\" \"the\" \"\"", "one")]
    [InlineData("", "")]
    public void Words_phrases_and_patterns_are_distinguished(string terms, string clauses)
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        Assert.Equal(clauses, Describe(SearchTerms.Parse(analyzer, terms, needsAll: false, position: 0)));
    }

    [Fact]
    public void N_grams_of_a_searched_word_must_be_in_one_word()
    {
        using var analyzer = AnalyzerCatalog.Make("NGramAnalyzer");
        var query = SearchTerms.Parse(analyzer, "abcdefgh", needsAll: false, position: 0);
        Assert.Equal("(abcdef+0 bcdefg+0 cdefgh+0)", Describe(query));
        using var matcher = new SearchMatcher(query);
        Assert.True(SearchTestData.Read(matcher, "xx yabcdefghz"));
        Assert.False(SearchTestData.Read(matcher, "abcdef bcdefg cdefgh"));
    }

    [Fact]
    public void Tokens_are_listed_once()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        Assert.Equal(
            ["dog", "lazy"],
            SearchTerms
                .Parse(analyzer, "dog \"lazy dog\" DOG", needsAll: false, 0)
                .Terms.Select(Encoding.UTF8.GetString)
        );
    }

    // A piece repeated with its number. A quotation mark stands for a phrase, which may have 64 words.
    [Theory]
    [InlineData("word{0} ", 1024)]
    [InlineData("w{0}* ", 64)]
    [InlineData("\"", 1)]
    public void A_search_above_its_limits_is_refused(string piece, int limit)
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        Assert.Equal(
            piece is "\"" ? 0 : limit,
            SearchTerms.Parse(analyzer, Repeat(piece, limit), needsAll: false, position: 0).Clauses.Count
        );
        string terms = piece is "\"" ? '"' + Repeat("w{0} ", 65) : Repeat(piece, limit + 1);
        var refused = Assert.Throws<QueryException>(() =>
            SearchTerms.Parse(analyzer, terms, needsAll: false, position: 17)
        );
        Assert.Equal((QueryFault.TooCostly, 17), (refused.Fault, refused.Position));

        static string Repeat(string piece, int times) =>
            string.Concat(
                Enumerable.Range(0, times).Select(number => piece.Replace("{0}", $"{number}", StringComparison.Ordinal))
            );
    }

    [Theory]
    [InlineData("lazy dog", -1)]
    [InlineData("lazy dog", 1001)]
    [InlineData("lazy d*", 3)]
    public void An_invalid_proximity_is_refused(string terms, int distance)
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        Assert.Equal(
            QueryFault.Invalid,
            Assert
                .Throws<QueryException>(() => SearchTerms.ParseProximity(analyzer, terms, distance, position: 0))
                .Fault
        );
    }

    private static string Describe(SearchQuery query)
    {
        return string.Join(' ', query.Clauses.Select(Clause));

        string Clause(SearchClause clause) =>
            clause switch
            {
                TermClause term => Text(term.Term),
                PhraseClause phrase =>
                    $"({string.Join(' ', phrase.Words.Select(word => $"{Text(word.Term)}+{word.Offset}"))})",
                WildcardClause wildcard => DescribePattern(wildcard.Pattern),
                _ => "?",
            };

        string Text(int term) => Encoding.UTF8.GetString(query.Terms[term]);
    }

    /// <summary>Returns the pattern of the test cases that matches the same texts.</summary>
    private static string DescribePattern(TokenPattern pattern)
    {
        return new[] { "qqq:*", "ca-:ca*", "-ce:*ce", "-b-:*b*", "c-t:c*t" }
            .Select(static line => line.Split(':'))
            .First(line => pattern.Matches(Encoding.UTF8.GetBytes(line[0]), null))[1];
    }
}
