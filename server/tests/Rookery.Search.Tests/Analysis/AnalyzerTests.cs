using Rookery.Fixtures;
using Rookery.Search.Analysis;

namespace Rookery.Search.Tests.Analysis;

/// <summary>The tokens that each analyzer makes of a text.</summary>
public sealed class AnalyzerTests
{
    [Theory]
    [InlineData("The quick brown Fox jumped over Ann's lazy dogs.", "quick|brown|fox|jumped|over|ann|lazy|dogs")]
    [InlineData("don't can’t O'Neill rock'n'roll 'quoted'", "don't|can't|o'neill|rock'n'roll|quoted")]
    [InlineData("3.14 1,000,000.5 v1.2 3,a 1.a 2nd B2B 192.168.0.1", "3.14|1,000,000.5|v1.2|3|1|2nd|b2b|192.168.0.1")]
    [InlineData(
        "bob@example.com https://example.com/a_b?x=1 AT&T C++",
        "bob|example.com|https|example.com|a_b|x|1|t|c"
    )]
    [InlineData("_lead trail_ __ ___x__y___ key:value", "_lead|trail_|___x__y___|key|value")]
    [InlineData(
        "Ärger über Straße, ÉCOLE naïve cœur Łódź Ångström İstanbul",
        "arger|uber|strasse|ecole|naive|coeur|lodz|angstrom|istanbul"
    )]
    [InlineData("Ἀθῆναι ΟΔΟΣ ёлка Україна", "αθηναι|οδοσ|елка|украіна")]
    [InlineData("東京都に行く カタカナ語 한국어 ｶﾅ", "東|京|都|に|行|く|カタカナ|語|한국어|ｶﾅ")]
    [InlineData("สวัสดีครับ नमस्ते שָׁלוֹם مُحَمَّد", "สวัสดีครับ|नमस्ते|שלום|محمد")]
    [InlineData("I ❤️ 👩‍👩‍👧 👍🏽 🇩🇪🇫🇷 ok☕", "i|❤|👩👩👧|👍🏽|🇩🇪|🇫🇷|ok|☕")]
    [InlineData("ＡＢＣ １２３ ﬁn", "abc|123|ﬁn")]
    [InlineData("", "")]
    [InlineData(" .,;:!? -- \t\n", "")]
    public void The_standard_analyzer_returns_words_without_case_and_marks(string text, string tokens) =>
        Assert.Equal(tokens, CollectedTokens.Line("StandardAnalyzer", text));

    [Theory]
    [InlineData("SimpleAnalyzer", "The 3 Gründe-x2 don't", "the|gründe|x|don|t")]
    [InlineData("StopAnalyzer", "The 3 Gründe-x2 don't", "gründe|x|don|t")]
    [InlineData("WhitespaceAnalyzer", " The  quick,\tbrown\u00A0FOX\n", "The|quick,|brown|FOX")]
    [InlineData("LowerCaseWhitespaceAnalyzer", "Über C++", "über|c++")]
    [InlineData("KeywordAnalyzer", "New York City", "New York City")]
    [InlineData("LowerCaseKeywordAnalyzer", "New York ÄRA", "new york ära")]
    [InlineData("NGramAnalyzer", "the Café", "ca|af|fe|caf|afe|cafe")]
    public void Each_analyzer_splits_text_by_its_own_rules(string analyzer, string text, string tokens) =>
        Assert.Equal(tokens, CollectedTokens.Line(analyzer, text));

    [StemmerTheory]
    [InlineData(
        "EnglishAnalyzer",
        "The cats' owners were running easily, Ann's too",
        "cat|owner|were|run|easili|ann|too"
    )]
    [InlineData("GermanAnalyzer", "Die Häuser der Straßen, schönste Bücher", "die|haus|der|strass|schon|buch")]
    [InlineData(
        "FrenchAnalyzer",
        "L'amour des chevaux qu’il mangeait aujourd'hui",
        "amour|de|cheval|il|mang|aujourd'hui"
    )]
    [InlineData("SpanishAnalyzer", "Las canciones corriendo rápidamente", "las|cancion|corr|rapid")]
    public void An_analyzer_of_a_language_stems_words(string analyzer, string text, string tokens) =>
        Assert.Equal(tokens, CollectedTokens.Line(analyzer, text));

    [Fact]
    public void Tokens_have_positions_and_removed_words_take_none()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        // Each token has its position among the words, and its start and length in bytes.
        Assert.Equal(
            [new("état", 0, 4, 5), new("art", 1, 17, 3)],
            CollectedTokens
                .Of(analyzer, "the État of the Art")
                .Select(static token => token with { Text = token.Text is "etat" ? "état" : token.Text })
        );
    }

    [Fact]
    public void N_grams_have_the_position_of_their_word_and_a_search_uses_only_the_longest()
    {
        using var analyzer = AnalyzerCatalog.Make(
            "NGramAnalyzer",
            new Dictionary<string, string>(StringComparer.Ordinal)
            {
                ["Indexing.Lucene.Analyzers.NGram.MinGram"] = "2",
                ["Indexing.Lucene.Analyzers.NGram.MaxGram"] = "3",
            }
        );
        Assert.Equal(
            ["abc@0", "bcd@0", "xyz@1"],
            CollectedTokens
                .Of(analyzer, "abcd xyz", AnalysisPurpose.Search)
                .Select(static token => $"{token.Text}@{token.Position}")
        );
        Assert.Equal(
            ["ab@0", "bc@0", "cd@0", "abc@0", "bcd@0"],
            CollectedTokens.Of(analyzer, "abcd").Select(static token => $"{token.Text}@{token.Position}")
        );
        Assert.Empty(CollectedTokens.Of(analyzer, "a", AnalysisPurpose.Search));
    }

    [Fact]
    public void A_second_value_starts_at_the_given_position()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        List<CollectedToken> tokens = [];
        var sink = new CollectedTokens(tokens);
        int next = analyzer.Analyze("one two"u8, AnalysisPurpose.Index, firstPosition: 0, ref sink);
        Assert.Equal(2, next);
        Assert.Equal(
            2 + Analyzer.ValueGap + 1,
            analyzer.Analyze("three"u8, AnalysisPurpose.Index, next + Analyzer.ValueGap, ref sink)
        );
        Assert.Equal([0, 1, 2 + Analyzer.ValueGap], tokens.Select(static token => token.Position));
    }

    [Fact]
    public void A_sink_can_end_the_analysis()
    {
        using var analyzer = AnalyzerCatalog.Make("NGramAnalyzer");
        Assert.Equal(3, CollectedTokens.Of(analyzer, "abcdefgh ijklmnop", limit: 3).Count);
    }
}
