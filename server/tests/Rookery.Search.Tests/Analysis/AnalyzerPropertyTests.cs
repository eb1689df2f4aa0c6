using System.Globalization;
using System.Text;
using CsCheck;
using Rookery.Fixtures;
using Rookery.Search.Analysis;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Analysis;

/// <summary>Properties that hold for every text.</summary>
public sealed class AnalyzerPropertyTests
{
    // Letters of many scripts, marks, digits, punctuation, emoji and their joiners, of which random texts consist.
    private static readonly string[] Pieces =
    [
        "a",
        "B",
        "é",
        "e\u0301",
        "ß",
        "東",
        "に",
        "カ",
        "한",
        "א",
        "ש",
        "م",
        "ـ",
        "न",
        "्",
        "ก",
        "1",
        "٣",
        ".",
        ",",
        "'",
        "’",
        "_",
        "·",
        " ",
        "\n",
        "-",
        "👩",
        "\u200D",
        "🏽",
        "🇩",
        "❤",
        "\uFE0F",
        "\u0301",
        "𝔘",
        "ⅷ",
        "\u00AD",
        "the",
        "'s",
    ];

    private static readonly Gen<string> Texts = Gen.OneOf(Pieces).Array[0, 19].Select(string.Concat);

    public static TheoryData<string> Analyzers =>
        [
            .. AnalyzerCatalog.Names.Where(static name =>
                StemmerLibrary.IsInstalled
                || name is not ("EnglishAnalyzer" or "GermanAnalyzer" or "FrenchAnalyzer" or "SpanishAnalyzer")
            ),
        ];

    [Theory]
    [MemberData(nameof(Analyzers))]
    public void Tokens_are_short_pieces_of_the_text_in_order(string name)
    {
        using var analyzer = AnalyzerCatalog.Make(name);
        Texts.CheckEach(
            2000,
            text =>
            {
                int bytes = Encoding.UTF8.GetByteCount(text);
                int start = 0;
                int position = 0;
                foreach (var token in CollectedTokens.Of(analyzer, text))
                {
                    Assert.InRange(Encoding.UTF8.GetByteCount(token.Text), 1, Analyzer.MaxTokenBytes);
                    Assert.True(
                        token.Start >= start && token.Position >= position,
                        $"'{token.Text}' precedes the token before it"
                    );
                    Assert.InRange(token.Start + token.Length, token.Start + 1, bytes);
                    (start, position) = (token.Start, token.Position);
                }
            }
        );
    }

    /// <summary>
    /// Each letter, digit and ideograph of a text is in exactly one token, and tokens contain nothing else.
    /// </summary>
    [Fact]
    public void Each_letter_is_in_exactly_one_token()
    {
        using var analyzer = new Analyzer(
            "plain",
            new AnalyzerRules { Segmentation = Segmentation.Words, Folding = Folding.None }
        );
        Texts.CheckEach(
            5000,
            text =>
            {
                byte[] utf8 = Encoding.UTF8.GetBytes(text);
                var covered = new int[utf8.Length];
                foreach (var token in CollectedTokens.Of(analyzer, text))
                {
                    Assert.Equal(token.Text, Encoding.UTF8.GetString(utf8, token.Start, token.Length));
                    for (int index = token.Start; index < token.Start + token.Length; index++)
                    {
                        covered[index]++;
                    }
                }

                int offset = 0;
                foreach (var rune in text.EnumerateRunes())
                {
                    Assert.InRange(
                        covered[offset],
                        Rune.IsLetterOrDigit(rune) ? 1 : 0,
                        Rune.IsWhiteSpace(rune) ? 0 : 1
                    );
                    offset += rune.Utf8SequenceLength;
                }
            }
        );
    }

    [Theory]
    [MemberData(nameof(Analyzers))]
    public void Tokens_of_a_text_do_not_depend_on_the_text_around_it(string name)
    {
        using var analyzer = AnalyzerCatalog.Make(name);
        if (name.Contains("Keyword", StringComparison.Ordinal))
        {
            return;
        }

        Gen.Select(Texts, Texts)
            .CheckEach(
                500,
                texts =>
                {
                    var (first, second) = texts;
                    Assert.Equal([.. Tokens(first), .. Tokens(second)], Tokens(first + "\n" + second));
                }
            );

        IEnumerable<string> Tokens(string text) =>
            CollectedTokens.Of(analyzer, text).Select(static token => token.Text);
    }

    /// <summary>Texts of 4 MiB that are the worst cases for the state machine.</summary>
    [Theory]
    [InlineData("_")]
    [InlineData("a.")]
    [InlineData("a.\u0301")]
    [InlineData("1,")]
    [InlineData("\u0301")]
    [InlineData("👩\u200D")]
    [InlineData("🇩")]
    [InlineData("ß")]
    [InlineData("x")]
    [InlineData("'")]
    public void Long_texts_take_linear_time_and_hardly_any_memory(string piece)
    {
        byte[] text = Encoding.UTF8.GetBytes(
            new StringBuilder().Insert(0, piece, (4 << 20) / Encoding.UTF8.GetByteCount(piece)).ToString()
        );
        foreach (string name in (string[])["StandardAnalyzer", "LowerCaseKeywordAnalyzer", "WhitespaceAnalyzer"])
        {
            using var analyzer = AnalyzerCatalog.Make(name);
            var count = new long[1];
            var sink = new CountingSink(count);
            analyzer.Analyze("warm up"u8, AnalysisPurpose.Index, firstPosition: 0, ref sink);
            long before = GC.GetAllocatedBytesForCurrentThread();
            analyzer.Analyze(text, AnalysisPurpose.Index, firstPosition: 0, ref sink);
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 64 * 1024);
        }
    }

    [Fact]
    public void A_long_word_is_split_and_a_long_text_ends_in_its_hash()
    {
        using var standard = AnalyzerCatalog.Make("StandardAnalyzer");
        // A token has at most 255 bytes. The standard analyzer makes an é, of two bytes, an e, of one.
        var pieces = CollectedTokens.Of(standard, new string('é', 300) + " end");
        Assert.Equal([255, 45, 3], pieces.Select(static piece => piece.Text.Length));
        Assert.Equal([0, 1, 2], pieces.Select(static piece => piece.Position));

        using var keyword = AnalyzerCatalog.Make("LowerCaseKeywordAnalyzer");
        string[] tokens =
        [
            .. new[] { "X", "Y", "Z" }.Select(last =>
                CollectedTokens.Of(keyword, new string('Ä', 500) + last).Single().Text
            ),
        ];
        Assert.Equal(3, tokens.Distinct(StringComparer.Ordinal).Count());
        Assert.All(
            tokens,
            static token =>
                Assert.Equal(
                    (Analyzer.MaxTokenBytes - 1, new string('ä', 111)),
                    (Encoding.UTF8.GetByteCount(token), token[..111])
                )
        );
        Assert.Equal(new string('x', 255), CollectedTokens.Of(keyword, new string('X', 255)).Single().Text);
        Assert.NotEqual(new string('x', 256), CollectedTokens.Of(keyword, new string('X', 256)).Single().Text);
    }

    [Fact]
    public void Invalid_UTF_8_does_not_end_the_analysis()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        List<CollectedToken> tokens = [];
        var sink = new CollectedTokens(tokens);
        analyzer.Analyze(
            [0xFF, (byte)'a', 0xC3, (byte)'b', 0xED, 0xA0, 0x80, (byte)'c', 0xE6, 0x9D],
            AnalysisPurpose.Index,
            firstPosition: 0,
            ref sink
        );
        Assert.Equal(["b", "c"], tokens.Select(static token => token.Text));
    }

    [Fact]
    public void Composed_and_decomposed_letters_are_the_same()
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        Assert.Equal(
            CollectedTokens.Of(analyzer, "\u00E9t\u00E9 \u0419").Select(static token => token.Text),
            CollectedTokens.Of(analyzer, "e\u0301te\u0301 \u0418\u0306").Select(static token => token.Text)
        );
    }

    [Fact]
    public void Lower_case_letters_of_the_table_fold_to_letters_that_fold_no_further()
    {
        int folded = 0;
        for (int letter = 0x80; letter < 0x2200; letter++)
        {
            var text = FoldingTable.Find(letter);
            folded += text.IsEmpty ? 0 : 1;
            foreach (var rune in Encoding.UTF8.GetString(text).EnumerateRunes())
            {
                Assert.True(
                    Rune.GetUnicodeCategory(rune) is UnicodeCategory.LowercaseLetter
                        && FoldingTable.Find(rune.Value).IsEmpty,
                    $"U+{letter:X4} folds to U+{rune.Value:X4}, which is not a lower-case letter or folds further"
                );
            }
        }

        Assert.Equal(470, folded); // all entries of the table for these letters
    }

    private readonly struct CountingSink(long[] count) : ITokenSink
    {
        public bool Add(scoped in Token token)
        {
            count[0] += token.Bytes.Length;
            return true;
        }
    }
}
