using Rookery.Queries.Summaries;

namespace Rookery.Queries.Tests.Summaries;

/// <summary>The similarity of words, as RavenDB computes it. The expected values are those of its measures.</summary>
public sealed class TextSimilarityTests
{
    private const int Digits = 9;

    [Theory]
    [InlineData("NGram", "nigth", "night", 0.7)]
    [InlineData("NGram", "xight", "night", 0.7)] // the first characters count fully
    [InlineData("NGram", "night", "nights", 0.833333333)]
    [InlineData("NGram", "abcdefghij", "abcdefgxyz", 0.75)]
    [InlineData("NGram", "a", "ab", 0.5)]
    [InlineData("NGram", "a", "b", 0)] // a single character is no pair
    [InlineData("NGram", "b", "ab", 0)]
    [InlineData("JaroWinkler", "martha", "marhta", 0.961111111)]
    [InlineData("JaroWinkler", "dwayne", "duane", 0.84)]
    [InlineData("JaroWinkler", "abcdefg", "abcdefh", 0.961904762)] // the whole common prefix counts
    [InlineData("JaroWinkler", "kingfishers", "kingfisher", 0.997245179)] // less for words of over ten characters
    [InlineData("JaroWinkler", "abcdefghijkl", "abcdefghijxy", 0.981481481)]
    [InlineData("Levenshtein", "vghij", "vwxyz", 0.2)]
    [InlineData("None", "kitten", "sitting", 0.571428571)]
    public void Words_are_as_similar_as_in_RavenDB(string measure, string one, string other, double expected)
    {
        var compared = Enum.Parse<SimilarityMeasure>(measure);
        Assert.Equal(expected, TextSimilarity.Of(compared, CharactersOf(one), CharactersOf(other), min: 0), Digits);
        Assert.Equal(expected, TextSimilarity.Of(compared, CharactersOf(other), CharactersOf(one), min: 0), Digits);
    }

    /// <summary>Computed as 1 - 4 / 5, the similarity is a little less than 0.2.</summary>
    [Theory]
    [InlineData("Levenshtein", "vghij", "vwxyz", 0.2)]
    [InlineData("Levenshtein", "aghijklmno", "apqrstuvwx", 0.1)]
    [InlineData("NGram", "nigth", "night", 0.7)]
    public void A_similarity_that_equals_the_minimum_is_enough(string measure, string one, string other, double min)
    {
        var compared = Enum.Parse<SimilarityMeasure>(measure);
        Assert.Equal(min, TextSimilarity.Of(compared, CharactersOf(one), CharactersOf(other), min));
    }

    private static int[] CharactersOf(string word) => [.. word.EnumerateRunes().Select(static rune => rune.Value)];
}
