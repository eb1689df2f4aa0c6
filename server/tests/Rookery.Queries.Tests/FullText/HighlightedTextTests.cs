using System.Text;
using Rookery.Queries.FullText;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.FullText;

/// <summary>Fragments of a text around the words that a search found, which are marked.</summary>
public sealed class HighlightedTextTests
{
    // The text, the search, the characters of a fragment, the most fragments, and the fragments with marked words.
    [Theory]
    [InlineData("a river of fish, fish and fish", "fish", 18, 1, "of [fish], [fish] and")]
    [InlineData("a river of fish, fish and fish", "fish", 18, 2, "of [fish], [fish] and|[fish]")]
    [InlineData("Größe der Bäume über Bäumen", "bäume", 10, 3, "[Bäume] über")]
    [InlineData("rivers and Rivals", "riv*", 100, 1, "[rivers] and [Rivals]")]
    [InlineData("extraordinary", "extraordinary", 3, 1, "[extraordinary]")]
    [InlineData("a cat", "dog", 10, 1, "")]
    public void Fragments_surround_the_found_words(
        string text,
        string words,
        int fragmentCharacters,
        int maxFragments,
        string expected
    )
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        var foundWords = new List<FoundWord>();
        new WordFinder(SearchTerms.Parse(AnalyzerCatalog.Default, words, needsAll: false, position: 0)).Find(
            utf8,
            foundWords,
            null
        );
        Assert.Equal(
            expected,
            string.Join(
                '|',
                HighlightedText.FindFragments(utf8, foundWords, fragmentCharacters, maxFragments, ["["], ["]"])
            )
        );
    }
}
